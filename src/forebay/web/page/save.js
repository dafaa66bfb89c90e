// Files of the page: texts, and its picture as SVG or PNG.

const PAINT = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "stroke-linecap", "opacity", "font-size", "font-family", "font-weight", "text-anchor"];
const GAP = 8, MARGIN = 16;

export function save(name, content) {
  const link = document.createElement("a"), address = URL.createObjectURL(new Blob([content]));
  Object.assign(link, { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

// The charts of a room beneath each other, with their style written into each element.
export function picture(room) {
  const panels = [...room.querySelectorAll("svg")], boxes = panels.map((each) => each.viewBox.baseVal);
  const width = Math.max(...boxes.map((box) => box.width)) + 2 * MARGIN;
  const height = boxes.reduce((sum, box) => sum + box.height + GAP, 2 * MARGIN - GAP);
  const whole = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  for (const [name, value] of Object.entries({ xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${width} ${height}`, width, height })) whole.setAttribute(name, value);
  const paper = document.createElementNS(whole.namespaceURI, "rect");
  for (const [name, value] of Object.entries({ width, height, fill: getComputedStyle(room.closest("section")).backgroundColor })) paper.setAttribute(name, value);
  whole.append(paper);
  let top = MARGIN;
  panels.forEach((panel, index) => {
    const copy = painted(panel);
    for (const [name, value] of Object.entries({ x: MARGIN, y: top, width: boxes[index].width, height: boxes[index].height })) copy.setAttribute(name, value);
    whole.append(copy);
    top += boxes[index].height + GAP;
  });
  return { text: new XMLSerializer().serializeToString(whole), width, height };
}

function painted(panel) {
  const copy = panel.cloneNode(true), from = [panel, ...panel.querySelectorAll("*")];
  [copy, ...copy.querySelectorAll("*")].forEach((element, index) => {
    const style = getComputedStyle(from[index]);
    for (const name of PAINT) element.setAttribute(name, style.getPropertyValue(name));
    element.removeAttribute("class");
  });
  return copy;
}

export async function png({ text, width, height }, scale = 2) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const made = Object.assign(document.createElement("canvas"), { width: width * scale, height: height * scale });
  made.getContext("2d").drawImage(image, 0, 0, made.width, made.height);
  return new Promise((resolve) => made.toBlob(resolve, "image/png"));
}

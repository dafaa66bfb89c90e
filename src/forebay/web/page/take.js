// What leaves the page, and what is dropped on it.

import { askBytes, askJson, askText } from "./live.js";
import { picture, png, save } from "./save.js";

const $ = (id) => document.getElementById(id);
const now = { question: null, budget: "", toml: null, sized: null };
const MOST_BYTES = 1_000_000;

// Something of the question, its budget or its answer is known, or no longer.
export function taking(known) {
  Object.assign(now, known);
  const budget = now.budget ? ` --budget "${now.budget}"` : "", limit = now.budget ? `, budget="${now.budget}"` : "";
  $("command").textContent = `forebay size scenario.toml${budget}`;
  $("python").textContent = `import forebay\nanswer = forebay.size(forebay.load("scenario.toml")${limit})`;
  for (const id of ["export-json", "export-report", "configure"]) $(id).disabled = !now.sized;
  if (!now.sized) $("configuration").hidden = true;
}

export function listenToTaking(status) {
  $("export-toml").addEventListener("click", () => save("scenario.toml", now.toml ?? ""));
  $("export-json").addEventListener("click", () => save("answer.json", now.sized.document));
  $("export-report").addEventListener("click", async () => { const found = await askText("/report", { kept: now.sized.kept }); found.text ? save("report.html", found.text) : told(found.error); });
  $("export-svg").addEventListener("click", () => save("curves.svg", picture($("charts")).text));
  $("export-png").addEventListener("click", async () => save("curves.png", await png(picture($("charts")))));
  $("configure").addEventListener("click", configure);
  $("platform").addEventListener("input", () => { if (!$("configuration").hidden) configure(); });
  $("share-link").addEventListener("click", (event) => {
    event.preventDefault();
    navigator.clipboard?.writeText($("share-link").href);
    status(document.body.dataset.status, "link copied");
  });
}

const told = (error) => { $("error-configuration").textContent = error?.text ?? ""; };

async function configure() {
  const asked = now.sized, platform = $("platform").value, found = await askJson("/configuration", { platform, kept: asked.kept });
  if (now.sized !== asked || $("platform").value !== platform) return; // it is no longer of what is shown
  told(found.error);
  $("configuration").hidden = Boolean(found.error);
  $("configuration").textContent = found.error ? "" : [...found.comments, found.text].join("\n");
}

// A file that is chosen or dropped becomes the question; context: {shown, open, failed}.
export function listenToFiles(context) {
  const taken = (file) => file && opened(file, context);
  $("open-file").addEventListener("click", () => $("file").click());
  $("file").addEventListener("change", () => { taken($("file").files[0]); $("file").value = ""; });
  document.addEventListener("dragover", (event) => { event.preventDefault(); document.body.classList.add("dropping"); });
  document.addEventListener("dragleave", (event) => { if (!event.relatedTarget) document.body.classList.remove("dropping"); });
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    document.body.classList.remove("dropping");
    taken(event.dataTransfer.files[0]);
  });
}

async function opened(file, { shown, open, failed }) {
  const before = shown();
  if (file.size > MOST_BYTES) return failed(file.name, { text: `${file.name} has more than 1 MB; measure or size it with forebay on the command line` });
  $("opened").textContent = `Reading ${file.name}…`;
  const isText = /\.(toml|json|txt)$/i.test(file.name);
  const found = isText ? await askJson("/open", { text: await file.text() }) : await askBytes(`/measure?${new URLSearchParams({ rate: before.link.rate })}`, await file.arrayBuffer());
  if (shown() !== before) return; // another was opened meanwhile
  $("opened").textContent = found.error ? "" : [file.name, ...(found.notes ?? [])].join("; ");
  if (found.error) return failed(file.name, found.error);
  open(found.question, found.sized, file.name);
}

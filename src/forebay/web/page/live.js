// Asks the server: laws at once, answers as streams of events. A newer question ends an older one.

const client = globalThis.crypto?.randomUUID?.() ?? `page-${Math.random().toString(36).slice(2)}-${Date.now()}`;
const open = new Map();
export const GONE = { field: "", text: "the server does not answer; start forebay serve again" };

const ask = (path, body, type, signal) =>
  fetch(path, { method: "POST", headers: { "Content-Type": type, "X-Client": client }, body, signal });

const post = (path, value, signal) => ask(path, JSON.stringify(value), "application/json", signal);

// The JSON of an answer, or {error}; a server that is not there is an error like another.
export async function askJson(path, value) {
  try {
    return await (await post(path, value)).json();
  } catch {
    return { error: GONE };
  }
}

export async function askBytes(path, bytes) {
  try {
    const found = await ask(path, bytes, "application/octet-stream");
    return found.status === 413 ? { error: { text: "the file has more than 1 MB; measure it with forebay measure --scenario" } } : await found.json();
  } catch {
    return { error: GONE };
  }
}

export async function askText(path, value) {
  try {
    const found = await post(path, value);
    return found.headers.get("content-type")?.startsWith("text/html") ? { text: await found.text() } : await found.json();
  } catch {
    return { error: GONE };
  }
}

export function stop(path) {
  for (const [name, each] of open) if (!path || name === path) { each.abort(); open.delete(name); }
}

// Calls heard(name, data) for each event; resolves at the end, and also when it is stopped.
export async function stream(path, query, question, heard) {
  stop(path);
  const mine = new AbortController();
  open.set(path, mine);
  const asked = new URLSearchParams(Object.entries(query).filter(([, value]) => value));
  try {
    const found = await post(`${path}?${asked}`, question, mine.signal);
    if (!found.headers.get("content-type")?.startsWith("text/event-stream")) {
      heard("failed", (await found.json()).error);
      return;
    }
    let ended = false;
    for await (const [name, data] of events(found.body)) {
      if (open.get(path) !== mine) return;
      ended ||= name === "end";
      heard(name, data);
    }
    if (!ended && open.get(path) === mine) heard("failed", GONE);
  } catch (error) {
    if (error.name !== "AbortError" && open.get(path) === mine) heard("failed", GONE);
  }
}

async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  for (let rest = "", part; !(part = await reader.read()).done; ) {
    const whole = (rest + part.value).split("\n\n");
    rest = whole.pop();
    for (const event of whole) yield read(event);
  }
}

export function read(event) {
  const [, name, data] = /^event: (.*)\ndata: ([^]*)$/.exec(event);
  return [name, JSON.parse(data)];
}

// Asks the server: laws at once, the answer as a stream of events. A newer question ends an older one.

const client = crypto.randomUUID?.() ?? `page-${Math.random().toString(36).slice(2)}-${Date.now()}`;
let open = null;

const post = (path, question, signal) =>
  fetch(path, { method: "POST", headers: { "Content-Type": "application/json", "X-Client": client }, body: JSON.stringify(question), signal });

export async function askLaws(question) {
  const found = await post("/laws", question);
  return found.json();
}

export function stop() {
  open?.abort();
  open = null;
}

// Calls heard(name, data) for each event; resolves at the end, and also when it is stopped.
export async function askAnswer(question, heard) {
  stop();
  const mine = (open = new AbortController());
  try {
    const found = await post("/answer", question, mine.signal);
    if (!found.headers.get("content-type")?.startsWith("text/event-stream")) {
      heard("failed", (await found.json()).error);
      return;
    }
    const reader = found.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let rest = "", part; !(part = await reader.read()).done; ) {
      const events = (rest + part.value).split("\n\n");
      rest = events.pop();
      if (open === mine) for (const event of events) heard(...read(event));
    }
  } catch (error) {
    if (error.name !== "AbortError" && open === mine) heard("failed", { field: "", text: "the server does not answer; start forebay serve again" });
  }
}

function read(event) {
  const [, name, data] = /^event: (.*)\ndata: ([^]*)$/.exec(event);
  return [name, JSON.parse(data)];
}

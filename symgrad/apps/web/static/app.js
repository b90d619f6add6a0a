// The page: what is typed is asked as it is typed, and the last question wins.

import { ask } from "./ask.js";
import { packed, unpacked } from "./link.js";
import { shown } from "./show.js";

const WAIT = 150; // ms after a key: somebody who types is not asked for every letter
const FIELDS = ["program", "of", "wrt", "claim", "language", "range"];
const field = Object.fromEntries(FIELDS.map((name) => [name, document.getElementById(name)]));
const parts = [...document.querySelectorAll(".part")].map((place) => ({
  name: place.id.replace("part-", ""),
  place,
  body: place.querySelector(".body"),
}));
const status = document.getElementById("status");
const trouble = document.getElementById("trouble");
const examples = document.getElementById("example");

let asked = new AbortController(); // all that is asked about what is typed now
let timer = 0;
let known = [];
const opened = new Set();
const filled = new Set(); // fields that hold what an example said, and nobody typed
let opening = 0;

function typed() {
  return Object.fromEntries(FIELDS.map((name) => [name, field[name].value]));
}

/** Return the parts that are to be seen. */
function wanted() {
  return parts.filter(({ name, place }) => {
    if (name === "claim") return field.claim.value.trim() !== "";
    return name === "gradient" || place.open;
  });
}

function later() {
  clearTimeout(timer);
  timer = setTimeout(all, WAIT);
}

/** Ask for every part that is to be seen, and forget what was asked before. */
async function all() {
  clearTimeout(timer);
  clearTimeout(opening);
  asked.abort();
  asked = new AbortController();
  document.getElementById("part-claim").hidden = field.claim.value.trim() === "";
  for (const part of parts) part.fresh = false;
  await Promise.all([remember(), some(wanted())]);
}

/** Ask for some parts about what is typed now. */
async function some(which) {
  const { signal } = asked;
  const start = performance.now();
  for (const part of which) opened.delete(part);
  const waiting = new Set(which);
  for (const part of which) part.body.classList.add("old");
  status.textContent = "…";
  try {
    const question = { ...typed(), parts: which.map((part) => part.name) };
    await ask(question, (found) => {
      if (signal.aborted) return;
      const part = which.find(({ name }) => name === found.part);
      if (part === undefined) return;
      waiting.delete(part);
      tell(part, found);
    }, signal);
    if (signal.aborted) return;
    status.textContent = `answered in ${((performance.now() - start) / 1000).toFixed(2)} s`;
  } catch (error) {
    if (signal.aborted || error.name === "AbortError") return;
    status.textContent = "";
    say(`No answer: ${error.message}`);
  }
  for (const part of waiting) part.body.replaceChildren();
}

function tell(part, found) {
  part.body.classList.remove("old");
  part.fresh = true;
  const first = part.name === "gradient";
  if (found.error) {
    const name = part.name === "claim" ? "claim" : found.error.field;
    if ((first || name === "claim") && filled.has(name)) {
      // What the example says there means nothing in a program that somebody types over it.
      field[name].value = "";
      filled.delete(name);
      later();
      return;
    }
    if (first) say(found.error.message);
    const line = document.createElement("p");
    line.className = "error";
    line.textContent = found.error.message;
    // What is wrong with the program or with a name is said once, below the program.
    const once = found.error.line !== undefined || found.error.field !== undefined;
    part.body.replaceChildren(...(!first && !once ? [line] : []));
  } else {
    if (first) say("");
    part.body.replaceChildren(...shown(found.blocks));
  }
}

function say(message) {
  trouble.hidden = message === "";
  if (trouble.textContent !== message) trouble.textContent = message;
  field.program.setAttribute("aria-invalid", String(message !== ""));
}

// The link

async function remember() {
  const open = parts.filter(({ place }) => place.open).map(({ name }) => name);
  const { signal } = asked;
  const hash = "#" + (await packed({ ...typed(), open }));
  if (!signal.aborted) history.replaceState(null, "", hash);
}

function restore(state) {
  filled.clear();
  for (const name of FIELDS) if (typeof state[name] === "string") field[name].value = state[name].slice(0, 20000);
  if (field.language.selectedIndex < 0) field.language.selectedIndex = 0;
  if (Array.isArray(state.open))
    for (const { name, place } of parts) if (place.tagName === "DETAILS") place.open = state.open.includes(name);
}

function fill(example) {
  filled.clear();
  for (const name of FIELDS)
    if (name !== "language") {
      field[name].value = example[name] ?? "";
      if (example[name]) filled.add(name);
    }
}

document.getElementById("copy-link").addEventListener("click", async () => {
  await remember();
  try {
    await navigator.clipboard.writeText(location.href);
    status.textContent = "link copied";
  } catch {
    status.textContent = "the link is in the address bar";
  }
});

// What happens

for (const name of ["program", "of", "wrt", "claim", "range"])
  field[name].addEventListener("input", () => {
    filled.delete(name);
    later();
  });
field.language.addEventListener("change", () => {
  void remember();
  void some(parts.filter(({ name }) => name === "source"));
});
document.getElementById("question").addEventListener("submit", (event) => {
  event.preventDefault();
  void all();
});
for (const part of parts)
  part.place.addEventListener("toggle", () => {
    if (!begun) return; // the first question asks for all that is open
    if (part.place.open && !part.fresh) {
      opened.add(part);
      clearTimeout(opening);
      opening = setTimeout(() => void some([...opened]), WAIT); // several that are opened together are one question
    }
    void remember();
  });

examples.addEventListener("change", () => {
  const found = known[examples.selectedIndex - 1];
  if (found === undefined) return;
  fill(found);
  const open = found.open ?? [];
  for (const { name, place } of parts) if (open.includes(name)) place.open = true;
  void all();
});

let begun = false;

async function begin() {
  const [list, state] = await Promise.all([fetch("examples.json").then((r) => r.json()), unpacked(location.hash)]);
  known = list;
  for (const { title } of known) examples.append(new Option(title));
  if (state === null) fill(known[0]);
  else restore(state);
  await new Promise((done) => setTimeout(done)); // the parts that were just opened say so first
  begun = true;
  await all();
}

window.addEventListener("hashchange", async () => {
  const state = await unpacked(location.hash);
  if (state === null) return;
  restore(state);
  void all();
});

void begin();

// The page: what is typed is asked as it is typed, and the last question wins.

import { ask } from "./ask.js";
import { packed, unpacked } from "./link.js";
import { shown } from "./show.js";

const WAIT = 150; // ms after a key: somebody who types is not asked for every letter
const CHIPS = 5; // the first examples, which have buttons of their own
const FILE = 20000; // characters of the box
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
let form = ""; // of a document that was dropped: latex, markdown
let plotted = null; // the plot that is shown
const values = {}; // of inputs of the plot, as typed
const answers = document.getElementById("answers");
const options = document.getElementById("options");

function typed() {
  const text = Object.fromEntries(FIELDS.map((name) => [name, field[name].value]));
  const fixed = Object.entries(values).map(([name, value]) => `${name} = ${value}`).join(", ");
  return { ...text, values: fixed.slice(0, 400), form };
}

/** Return the parts that are to be seen. */
function wanted() {
  return parts.filter(({ name, place }) => {
    if (name === "claim") return field.claim.value.trim() !== "";
    return place.tagName !== "DETAILS" || (place.open && !skipped(name));
  });
}

/** Tell whether a part is not for what is typed. */
function skipped(name) {
  return name === "assembly" && !answers.classList.contains("program");
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
  const empty = found.error ? part.name === "review" || part.name === "understood" : !found.blocks.some((b) => b.kind !== "box");
  if (part.name !== "moments") part.place.hidden = empty;
  for (const box of found.blocks?.filter((b) => b.kind === "box") ?? []) settle(box);
  if (part.name === "plot") {
    plotted = found.blocks?.find((b) => b.kind === "plot") ?? null;
    askForValues(plotted?.others ?? {});
  }
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

/** Show the parts that are for a formula, a program or a derivation. */
function settle(box) {
  const before = answers.className;
  answers.className = box.what;
  options.hidden = box.what === "derivation";
  for (const { name, place } of parts) if (name === "noise" || name === "moments") place.hidden = !box.noise;
  const assembly = parts.find(({ name }) => name === "assembly");
  if (before !== box.what && assembly.place.open && !skipped("assembly")) void some([assembly]);
}

// The plot

/** Show a field for each input that is fixed, unless they are there. */
function askForValues(others) {
  const place = document.getElementById("values");
  const names = Object.keys(others);
  if (names.join() === [...place.querySelectorAll("input")].map((i) => i.name).join()) return;
  for (const name of Object.keys(values)) if (!names.includes(name)) delete values[name];
  place.replaceChildren(...names.map((name) => {
    const label = document.createElement("label");
    const input = document.createElement("input");
    Object.assign(input, { name, size: 7, value: values[name] ?? String(Number(others[name].toPrecision(6))), inputMode: "decimal" });
    input.addEventListener("input", () => {
      values[name] = input.value.trim();
      if (values[name] === "") delete values[name];
      drawAgain();
    });
    label.append(`${name} = `, input);
    return label;
  }));
}

function drawAgain() {
  clearTimeout(opening);
  opening = setTimeout(() => void some(parts.filter(({ name }) => name === "plot")), WAIT);
}

function zoom(factor) {
  if (plotted === null) return;
  const [first, last] = [plotted.x[0], plotted.x.at(-1)];
  const middle = (first + last) / 2, half = ((last - first) / 2) * factor;
  field.range.value = [middle - half, middle + half].map((end) => Number(end.toPrecision(6))).join(", ");
  void remember();
  drawAgain();
}

document.getElementById("zoom-in").addEventListener("click", () => zoom(1 / 2));
document.getElementById("zoom-out").addEventListener("click", () => zoom(2));

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
  form = typeof state.form === "string" ? state.form.slice(0, 40) : "";
  for (const name of FIELDS) if (typeof state[name] === "string") field[name].value = state[name].slice(0, 20000);
  if (field.language.selectedIndex < 0) field.language.selectedIndex = 0;
  showOptions();
  if (Array.isArray(state.open))
    for (const { name, place } of parts) if (place.tagName === "DETAILS") place.open = state.open.includes(name);
}

/** Open the options if one is filled in. */
function showOptions() {
  if (["of", "wrt", "claim"].some((name) => field[name].value)) options.open = true;
}

function fill(example) {
  filled.clear();
  form = "";
  for (const name of FIELDS)
    if (name !== "language") {
      field[name].value = example[name] ?? "";
      if (example[name]) filled.add(name);
    }
}

function choose(example) {
  fill(example);
  showOptions();
  const open = example.open ?? [];
  for (const { name, place } of parts) if (open.includes(name)) place.open = true;
  void all();
}

// Files that are dropped

field.program.addEventListener("dragover", (event) => event.preventDefault());
field.program.addEventListener("drop", async (event) => {
  const [file] = event.dataTransfer.files;
  if (file === undefined) return; // text is dropped as always
  event.preventDefault();
  const text = await file.text();
  if (text.length > FILE) {
    say(`${file.name} has ${text.length.toLocaleString("en")} characters; the box takes ${FILE.toLocaleString("en")}. symgrad review takes all.`);
    return;
  }
  fill({ program: text });
  form = /\.(tex|ltx)$/i.test(file.name) ? "latex" : /\.(md|markdown)$/i.test(file.name) ? "markdown" : "";
  void all();
});

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
    if (name === "program" && field.program.value.trim() === "") form = "";
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
  if (found !== undefined) choose(found);
});

let begun = false;

async function begin() {
  const [list, state] = await Promise.all([fetch("examples.json").then((r) => r.json()), unpacked(location.hash)]);
  known = list;
  for (const { title } of known) examples.append(new Option(title));
  document.getElementById("chips").append(...known.slice(0, CHIPS).map((example) => {
    const chip = document.createElement("button");
    Object.assign(chip, { type: "button", className: "chip", textContent: example.title });
    chip.addEventListener("click", () => choose(example));
    return chip;
  }));
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

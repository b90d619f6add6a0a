// Blocks of an answer (symgrad/apps/web/blocks.py) as elements. Every text goes in as text; no fragment brings a script along.

const DRAWING = "http://www.w3.org/2000/svg";

function element(name, className, text) {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

const KINDS = {
  text: (b) => element("p", "", b.text),
  code: (b) => {
    const made = element("div", "code");
    const head = element("div", "head");
    head.append(element("span", "", b.label), copier(() => b.text, b.label));
    const pre = element("pre", "", b.text);
    pre.tabIndex = 0;
    pre.setAttribute("role", "group");
    pre.setAttribute("aria-label", b.label || "text");
    made.append(head, pre);
    return made;
  },
  html: (b) => fragment(b.html),
  fold: (b) => {
    const made = element("details");
    const inside = element("div");
    inside.append(...shown(b.blocks));
    made.append(element("summary", "", b.title), inside);
    return made;
  },
  verdict: (b) => // without blocks where they are too long
    b.html ? fragment(b.html) : element("div", "verdict " + (/^[a-z]+$/.test(b.status) ? b.status : ""), b.text),
  listing,
  plot,
};

/** Return elements for blocks. */
export function shown(blocks) {
  return blocks.filter((b) => Object.hasOwn(KINDS, b.kind)).map((b) => KINDS[b.kind](b));
}

/** Return a button that copies a text, and says so. */
export function copier(text, what) {
  const made = element("button", "", "Copy");
  made.type = "button";
  made.setAttribute("aria-label", "Copy " + (what || "this text"));
  made.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text());
      made.textContent = "Copied";
    } catch {
      made.textContent = "Cannot copy";
    }
    setTimeout(() => (made.textContent = "Copy"), 1500);
  });
  return made;
}

// What a fragment may consist of: formulas in MathML, pictures in SVG, and text that is set.
const ELEMENTS = new Set(
  ("math semantics mrow mi mn mo mtext mspace mfrac msqrt mroot msup msub msubsup mover munder munderover mtable mtr mtd mstyle " +
    "mpadded mphantom menclose div span p ul ol li pre code mark strong em table caption thead tbody tr th td details summary " +
    "h2 h3 h4 h5 br dl dt dd figure figcaption svg g path rect text tspan polygon line circle title desc").split(" "),
);
const ATTRIBUTES = new Set(
  ("class tabindex role aria-label aria-hidden display displaystyle scriptlevel mathvariant stretchy fence separator accent " +
    "accentunder columnalign lspace rspace form largeop movablelimits symmetric minsize maxsize linethickness scope colspan " +
    "rowspan open lang width height viewBox x y x1 x2 y1 y2 cx cy r rx d points transform fill fill-opacity stroke stroke-width " +
    "stroke-opacity stroke-dasharray stroke-linecap font-family font-size font-weight font-style text-anchor textLength " +
    "lengthAdjust").split(" "),
);

function fragment(html) {
  const { body } = new DOMParser().parseFromString(html, "text/html"); // a document in which nothing runs
  for (const node of [...body.querySelectorAll("*")]) {
    if (!ELEMENTS.has(node.localName)) node.remove();
    else for (const { name } of [...node.attributes]) if (!ATTRIBUTES.has(name)) node.removeAttribute(name);
  }
  const made = element("div", "sg");
  made.append(...body.childNodes);
  return made;
}

function listing(b) {
  const made = element("div", "listing");
  made.tabIndex = 0;
  made.setAttribute("role", "group");
  made.setAttribute("aria-label", "instructions, each with what made it");
  const table = element("table");
  const body = element("tbody");
  let before = null;
  for (const row of b.rows) {
    const from = row.what ? (row.lines.length ? `line ${row.lines.join(", ")}:  ` : "") + row.what : "";
    const line = element("tr", from !== before ? "new" : "");
    line.append(element("td", "", row.text), element("td", "from", from !== before ? from : ""));
    before = from;
    body.append(line);
  }
  table.append(body);
  made.append(table);
  return made;
}

// The plot

const HEIGHT = 320, LEFT = 56, RIGHT = 12, TOP = 12, BOTTOM = 28;

function drawn(name, attributes, text) {
  const made = document.createElementNS(DRAWING, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

/** Return about five round numbers between two. */
export function ticks(low, high) {
  const step = 10 ** Math.floor(Math.log10((high - low) / 4));
  const every = [1, 2, 5, 10].map((k) => k * step).find((s) => (high - low) / s <= 6) ?? step;
  const found = [];
  for (let k = Math.ceil(low / every); k * every <= high && found.length < 12; k++) found.push(k * every);
  return found;
}

/** Return between which values curves are shown: what pole-like ends of them would hide is kept. */
export function extent(values) {
  const sorted = values.filter((v) => v !== null).sort((a, b) => a - b);
  if (!sorted.length) return [-1, 1];
  const at = (share) => sorted[Math.round(share * (sorted.length - 1))];
  const spread = at(0.95) - at(0.05) || Math.abs(at(0.5)) || 1;
  const low = Math.max(sorted[0], at(0.05) - 1.5 * spread), high = Math.min(sorted.at(-1), at(0.95) + 1.5 * spread);
  const margin = (high - low || Math.abs(high) || 1) * 0.06;
  return [low - margin, high + margin];
}

function said(value) {
  return String(Number(value.toPrecision(4)));
}

function plot(b) {
  const WIDTH = window.innerWidth < 480 ? 380 : 640; // drawn as large as it is shown, so that its words can be read
  const [first, last] = [b.x[0], b.x.at(-1)];
  const [low, high] = extent(b.curves.flatMap((c) => c.values));
  const across = (x) => LEFT + ((x - first) / (last - first)) * (WIDTH - LEFT - RIGHT);
  const down = (v) => TOP + ((high - v) / (high - low)) * (HEIGHT - TOP - BOTTOM);
  const svg = drawn("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img" });
  svg.setAttribute("aria-label", `${b.curves.map((c) => c.label).join(" and ")} for ${b.along} from ${said(first)} to ${said(last)}`);
  for (const x of ticks(first, last)) {
    svg.append(drawn("path", { class: "axis", d: `M${across(x)} ${TOP}V${HEIGHT - BOTTOM}` }));
    svg.append(drawn("text", { x: across(x), y: HEIGHT - 10, "text-anchor": "middle" }, said(x)));
  }
  for (const v of ticks(low, high)) {
    svg.append(drawn("path", { class: "axis", d: `M${LEFT} ${down(v)}H${WIDTH - RIGHT}` }));
    svg.append(drawn("text", { x: LEFT - 6, y: down(v) + 4, "text-anchor": "end" }, said(v)));
  }
  b.curves.forEach((curve, k) => {
    let path = "", pen = "M";
    b.x.forEach((x, i) => {
      const v = curve.values[i];
      if (curve.breaks.includes(i - 1)) pen = "M"; // it jumps between the two
      if (v === null || v < low || v > high) pen = "M";
      else {
        path += `${pen}${across(x).toFixed(1)} ${down(v).toFixed(1)}`;
        pen = "L";
      }
    });
    svg.append(drawn("path", { class: `curve curve${k}`, d: path }));
  });
  const made = element("div", "plot");
  const key = element("div", "key");
  key.append(...b.curves.map((c) => element("span", "", c.label)));
  const here = element("p", "here", " ");
  const mark = drawn("path", { class: "axis mark", d: "" });
  svg.append(mark);
  svg.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect();
    const at = ((event.clientX - box.left) / box.width) * WIDTH;
    const share = Math.min(Math.max((at - LEFT) / (WIDTH - LEFT - RIGHT), 0), 1);
    const i = Math.round(share * (b.x.length - 1));
    mark.setAttribute("d", `M${across(b.x[i])} ${TOP}V${HEIGHT - BOTTOM}`);
    const read = b.curves.map((c) => `${c.label} = ${c.values[i] === null ? "undefined" : said(c.values[i])}`);
    here.textContent = [`${b.along} = ${said(b.x[i])}`, ...read].join(",  ");
  });
  made.append(svg, key, here);
  return made;
}

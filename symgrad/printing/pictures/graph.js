// What makes a picture of a graph answer: a box tells its title when it is pointed at or has the focus, and folds what
// it alone reads. All texts are those of the picture; they are set as text. The picture is complete without it.
(function (id) {
  "use strict";
  // An output that is shown twice has the same id twice.
  document.querySelectorAll('[id="' + id + '"]').forEach(function (root) {
    var svg = root.querySelector("svg");
    if (!svg || root.dataset.ready) return;
    root.dataset.ready = "yes";

    var told = document.createElement("pre");
    told.className = "told";
    told.setAttribute("aria-live", "polite");
    var hint = "Point at a box, or go to it with Tab. A click or Enter folds what it alone reads.";
    told.textContent = hint;
    root.appendChild(told);
    svg.setAttribute("role", "group");

    var nodes = [], edges = [], reads = [], read = [], folded = [];
    svg.querySelectorAll("g.node").forEach(function (g) {
      var n = Number(g.dataset.number);
      nodes[n] = g; reads[n] = []; read[n] = false; folded[n] = false;
    });
    svg.querySelectorAll("g.flow").forEach(function (g) {
      var from = Number(g.dataset.from), to = Number(g.dataset.to);
      edges.push({ g: g, from: from, to: to });
      reads[to].push(from);
      read[from] = true;
    });

    function show() {
      var seen = nodes.map(function () { return false; });
      var pending = [];
      nodes.forEach(function (_, n) { if (!read[n]) pending.push(n); });
      while (pending.length) {
        var top = pending.pop();
        if (seen[top]) continue;
        seen[top] = true;
        if (!folded[top]) pending.push.apply(pending, reads[top]);
      }
      nodes.forEach(function (g, n) {
        g.style.display = seen[n] ? "" : "none";
        g.classList.toggle("folded", folded[n]);
        if (reads[n].length) g.setAttribute("aria-expanded", String(!folded[n]));
      });
      edges.forEach(function (e) {
        e.g.style.display = seen[e.from] && seen[e.to] && !folded[e.to] ? "" : "none";
      });
    }

    // What is read aloud has every word that is seen in the box, so that one who sees it can also call it by voice.
    function called(g, text) {
      var lines = text.split("\n"), plain = lines[0].replace(" = ", " ");
      var seen = Array.from(g.querySelectorAll("text"), function (t) { return t.textContent; }).join(" ");
      if (!seen.startsWith(plain)) return seen + "\n" + text; // the box has no place for the whole equation
      return [lines[0] + seen.slice(plain.length)].concat(lines.slice(1)).join("\n");
    }

    nodes.forEach(function (g, n) {
      var title = g.querySelector("title"), text = title.textContent;
      title.remove(); // else it is told twice
      g.setAttribute("aria-label", called(g, text));
      g.setAttribute("tabindex", "0");
      g.setAttribute("role", reads[n].length ? "button" : "img");
      function tell() { told.textContent = text; }
      g.addEventListener("mouseenter", tell);
      g.addEventListener("focus", tell);
      if (!reads[n].length) return;
      function fold() { folded[n] = !folded[n]; show(); }
      g.addEventListener("click", fold);
      g.addEventListener("keydown", function (event) {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        event.stopPropagation();
        fold();
      });
    });
    show();
  });
})

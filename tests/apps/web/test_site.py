"""The page as files without a server: what is written, and its script with a worker of the test's own."""

from __future__ import annotations

import functools
import http.server
import re
import runpy
import shutil
import subprocess
import sys
import threading
import zipfile
from pathlib import Path

import pytest

from tests.apps.web.browser import Browser, browser_path
from tests.processes import printed

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    before = list(sys.path)
    try:
        files = runpy.run_path(str(ROOT / "tools" / "web_site.py"))["build"](folder)
    finally:
        sys.path[:] = before
    assert all(path.stat().st_size > 0 for path in files)
    return folder


def test_every_file_that_the_page_asks_for_is_there(site: Path) -> None:
    page = (site / "index.html").read_text()
    named = {*re.findall(r'(?:src|href)="([\w.]+)"', page)}
    for script in site.glob("*.js"):
        text = script.read_text()
        named |= {*re.findall(r'from "\./([\w.]+)"', text), *re.findall(r'(?:fetch|URL)\("([\w.]+)"', text)}
    named.discard("answer")
    assert {"app.js", "ask.js", "worker.js", "report.css", "examples.json", "symgrad.zip"} <= named
    assert {name for name in named if not (site / name).exists()} == set()
    assert 'fetch("answer"' not in (site / "ask.js").read_text()
    assert "Content-Security-Policy" in page


ANSWERED = """
import sys
sys.path[:0] = [sys.argv[1]]
class Nowhere:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("llvmlite", "starlette", "uvicorn", "click", "rich"):
            raise ModuleNotFoundError(name, name=name.partition(".")[0])
sys.meta_path.insert(0, Nowhere())
import mpmath, opt_einsum, symgrad, sympy
assert all(module.__file__.startswith(sys.argv[1]) for module in (mpmath, opt_einsum, symgrad, sympy))
from symgrad.apps.web.answers import answer, validate_question
(part,) = answer(validate_question({"program": "x : real; y = sin(x)"}))
print(part["blocks"][1]["text"])
"""


def test_what_is_packed_answers(site: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(site / "symgrad.zip") as packed:
        packed.extractall(tmp_path)
    assert printed(ANSWERED, str(tmp_path)) == "dy/dx = cos(x)\n"


SCRIPT = r"""
let made = 0;
globalThis.Worker = class {
  constructor(url, options) {
    if (!String(url).endsWith("/worker.js") || options.type !== "module") throw new Error(String(url));
    made += 1;
    this.alive = true;
    setTimeout(() => this.onmessage({ data: { ready: true } }));
  }
  postMessage(text) {
    const question = JSON.parse(text);
    if (question.parts.length !== 1) throw new Error("one part at a time");
    if (question.program === "never") return;
    if (question.program === "fault") return setTimeout(() => this.onmessage({ data: { failed: "a fault" } }));
    const answer = JSON.stringify({ part: question.parts[0], blocks: [question.program] });
    setTimeout(() => { if (this.alive) this.onmessage({ data: { answer } }); }, 5);
  }
  terminate() { this.alive = false; }
};
const later = globalThis.setTimeout;
globalThis.setTimeout = (what, ms, ...more) => later(what, Math.min(ms ?? 0, 50), ...more); // soon over
const { ask } = await import(process.argv[2]);
const told = async (question, signal = new AbortController().signal) => {
  const found = [];
  await ask(question, (part) => found.push(part), signal);
  return JSON.stringify(found);
};
const both = await Promise.all([
  told({ program: "x", parts: ["gradient", "latex"] }), told({ program: "y", parts: ["noise"] }),
]);
console.log(...both);
const ending = new AbortController();
const left = told({ program: "z", parts: ["gradient", "latex", "graph"] }, ending.signal).catch((e) => e.name);
ending.abort();
console.log(await left);
console.log(await told({ program: "never", parts: ["plot"] }), made);
console.log(await told({ program: "after", parts: ["plot"] }), made);
console.log(await told({ program: "fault", parts: ["plot"] }).catch((e) => e.message));
"""


def test_the_script_asks_a_worker_part_by_part(site: Path, tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("there is no node")
    (tmp_path / "test.mjs").write_text(SCRIPT)
    module = tmp_path / "ask.mjs"
    module.write_text((site / "ask.js").read_text())
    done = subprocess.run(
        [node, str(tmp_path / "test.mjs"), module.as_uri()],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        '[{"part":"gradient","blocks":["x"]},{"part":"latex","blocks":["x"]}] [{"part":"noise","blocks":["y"]}]',
        "AbortError",
        '[{"part":"plot","error":{"message":"this takes longer than 30 s"}}] 1',
        '[{"part":"plot","blocks":["after"]}] 2',
        "a fault",
    ]


class _Files(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


def test_a_browser_starts_its_worker_which_says_what_is_missing(site: Path, tmp_path: Path) -> None:
    """As far as it goes without Pyodide: a policy or a worker of the wrong kind would be told instead."""
    path = browser_path()
    if path is None:
        pytest.skip("there is no Chromium")
    handler = functools.partial(_Files, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        browser = Browser(path, tmp_path)
        try:
            page = browser.page(f"http://127.0.0.1:{server.server_port}/")
            page.until("document.body.innerText.includes('No answer')")
            assert "No answer: Pyodide is not here: put its files into the folder pyodide" in page.text(
                "body"
            )
        finally:
            browser.close()
            server.shutdown()
            thread.join()

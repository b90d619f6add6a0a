"""Photograph the page of `symgrad serve` for the README: `python tools/page_picture.py [FILE]`; this needs a Chromium.

`make photo` runs it. It serves the page as `symgrad serve` does, types a program and a wrong derivative, waits for the
answer, and writes docs/images/page.png.
"""

from __future__ import annotations

import base64
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # import this tree, even if another version is installed

from symgrad.apps.web.workers import Workers  # noqa: E402
from tests.apps.web.browser import Browser, browser_path  # noqa: E402
from tests.apps.web.serving import running  # noqa: E402

TARGET = ROOT / "docs" / "images" / "page.png"
WIDTH, HEIGHT = 1180, 900

FIELDS = {
    "program": "x : real\nu ~ Uniform(0.9, 1.1)\ny = x**2\nyu = y*u\nz = sqrt(stop_gradient(yu - y) + y)",
    "wrt": "x",
    "claim": r"\frac{dz}{dx} = \frac{x}{\sqrt{y}}",
}
CLOSED = ("derivation", "plot")


def photograph() -> bytes:
    """Return the page with an answer, as PNG."""
    path = browser_path()
    if path is None:
        raise SystemExit("there is no Chromium: install chromium")
    with tempfile.TemporaryDirectory() as folder, running(Workers(1)) as address:
        browser = Browser(path, Path(folder))
        try:
            page = browser.page(f"http://{address[0]}:{address[1]}/", WIDTH, HEIGHT)
            page.until("/^answered/.test(document.getElementById('status').textContent)")
            for part in CLOSED:
                page.value(f"document.getElementById('part-{part}').open = false")
            page.value("document.getElementById('status').textContent = 'typing'")
            for name, text in FIELDS.items():
                page.type(f"#{name}", text)
            page.until("/^answered/.test(document.getElementById('status').textContent)")
            page.until("!document.querySelector('.old')")
            page.value("document.activeElement.blur(); scrollTo(0, 0)")
            return base64.b64decode(page.send("Page.captureScreenshot", format="png")["data"])
        finally:
            browser.close()


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else TARGET
    target.write_bytes(photograph())
    print(f"wrote {target}, {target.stat().st_size:,} bytes")

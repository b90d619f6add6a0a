"""A Chromium without a window, over a pair of pipes: what tests of the page need of DevTools, and no package for it."""

from __future__ import annotations

import base64
import itertools
import json
import os
import select
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

__all__ = ["AXE", "Browser", "Page", "browser_path"]

_SECONDS = 60.0
AXE = os.environ.get("SYMGRAD_AXE")
"""The script of axe-core, which is no package of Python's; `make access` fetches it."""
_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


def browser_path() -> str | None:
    """Return where a Chromium is that can be driven over pipes, None if there is none."""
    if os.name != "posix":
        return None
    return next((path for name in _NAMES if (path := shutil.which(name)) is not None), None)


class Browser:
    """A browser of its own, with nothing of the user's."""

    def __init__(self, path: str, folder: Path) -> None:
        to_browser, self._write = os.pipe()
        self._read, from_browser = os.pipe()

        def placed() -> None:  # DevTools over pipes are at descriptors 3 and 4
            high = [os.dup(os.dup(fd)) for fd in (to_browser, from_browser)]
            for fd, there in zip(high, (3, 4), strict=True):
                os.dup2(fd, there)

        options = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--hide-scrollbars",
        ]
        self._process = subprocess.Popen(
            [path, *options, "--remote-debugging-pipe", f"--user-data-dir={folder}", "--no-first-run"],
            preexec_fn=placed,
            close_fds=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        self._numbers = itertools.count(1)
        self._rest = b""
        self.events: list[dict[str, Any]] = []
        self._targets: list[str] = []

    def close_pages(self) -> None:
        """Close what was opened: pages that nobody sees are slow."""
        while self._targets:
            self.send("Target.closeTarget", targetId=self._targets.pop())

    def close(self) -> None:
        self._process.kill()
        self._process.wait(10)
        os.close(self._write)
        os.close(self._read)

    def send(self, method: str, session: str | None = None, **given: Any) -> Any:
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": given}
        if session is not None:
            message["sessionId"] = session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + _SECONDS
        while True:
            found = self._message(end)
            if found.get("id") == number:
                if "error" in found:
                    raise RuntimeError(f"{method}: {found['error']}")
                return found["result"]
            self.events.append(found)

    def _message(self, end: float) -> dict[str, Any]:
        while b"\0" not in self._rest:
            left = end - time.monotonic()
            ready = select.select([self._read], [], [], max(left, 0))[0]
            assert ready, "the browser does not answer"
            more = os.read(self._read, 1 << 20)
            assert more, "the browser has ended"
            self._rest += more
        text, self._rest = self._rest.split(b"\0", 1)
        return json.loads(text)

    def complaints(self) -> list[str]:
        """Return what went wrong in pages so far: exceptions of scripts, and what a policy did not allow."""
        found: list[str] = []
        for event in self.events:
            if event.get("method") == "Runtime.exceptionThrown":
                found.append(json.dumps(event["params"]["exceptionDetails"])[:500])
            elif event.get("method") == "Log.entryAdded" and event["params"]["entry"]["level"] == "error":
                found.append(event["params"]["entry"]["text"])
        return found

    def page(self, address: str, width: int = 1280, height: int = 900, *, dark: bool = False) -> Page:
        """Open a page, as wide as a screen."""
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self._targets.append(target)
        found = Page(self, session)
        for domain in ("Page", "Runtime", "Log"):
            found.send(f"{domain}.enable")
        found.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        found.send("Emulation.setEmulatedMedia", features=[scheme])
        found.go(address)
        return found


class Page:
    """A page in a browser."""

    def __init__(self, browser: Browser, session: str) -> None:
        self._browser, self._session = browser, session

    def send(self, method: str, **given: Any) -> Any:
        return self._browser.send(method, self._session, **given)

    def go(self, address: str) -> None:
        self.send("Page.navigate", url=address)
        self.until("document.readyState === 'complete' && location.href !== 'about:blank'")

    def value(self, script: str) -> Any:
        """Return what a script gives."""
        found = self.send("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def until(self, script: str, seconds: float = _SECONDS) -> None:
        """Wait until a script gives something that is true."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = self.value(f"!!({script})")
            if found:
                return
            time.sleep(0.05)
        raise AssertionError(f"not within {seconds} s: {script}\n{self.text('body')[:2000]}")

    def text(self, selector: str) -> str:
        return self.value(f"document.querySelector({json.dumps(selector)})?.innerText ?? ''")

    def type(self, selector: str, text: str) -> None:
        """Put text in the place of what a field has, as a user does."""
        self.value(f"(e => {{ e.focus(); e.select(); }})(document.querySelector({json.dumps(selector)}))")
        self.send("Input.insertText", text=text)

    def press(self, key: str, code: int) -> None:
        for kind in ("rawKeyDown", "keyUp"):
            self.send("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code)

    def barriers(self) -> list[Any]:
        """Return what axe-core finds that keeps people out: how grave it is, which rule, and where."""
        assert AXE is not None
        self.value(Path(AXE).read_text(encoding="utf-8") + ";0")
        where = "v.nodes.map(n => n.html.slice(0, 200))"
        found = self.value(f"axe.run().then(r => r.violations.map(v => [v.impact, v.id, {where}]))")
        return [v for v in found if v[0] in ("serious", "critical")]

    def screenshot(self, path: Path) -> None:
        """Save a picture of the whole page."""
        data = self.send("Page.captureScreenshot", captureBeyondViewport=True)["data"]
        path.write_bytes(base64.b64decode(data))

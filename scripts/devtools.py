"""A headless Chromium, driven over a pipe by the Chrome DevTools Protocol. Nothing but Python is
needed for it.
"""

import fcntl
import json
import os
import select
import shutil
import subprocess
import time

NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"]
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
    "--disable-default-apps", "--disable-dev-shm-usage", "--mute-audio", "--remote-debugging-pipe",
]
PATIENCE = 60.0
"""Time limit of one answer, in seconds."""


def installed():
    """Return the binary: that of CHROMIUM, or the first in the PATH; None if there is none."""
    wanted = os.environ.get("CHROMIUM")
    return next(filter(None, map(shutil.which, [wanted] if wanted else NAMES)), None)


class Chromium:
    """A browser with one page, driven over a pipe: JSON values with a NUL after each."""

    def __init__(self, binary, home):
        ours, theirs = os.pipe(), os.pipe()

        def connect():
            read, write = (fcntl.fcntl(fd, fcntl.F_DUPFD, 10) for fd in (ours[0], theirs[1]))
            os.dup2(read, 3)
            os.dup2(write, 4)

        command = [binary, *FLAGS, f"--user-data-dir={home}", "about:blank"]
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen(command, preexec_fn=connect, pass_fds=(3, 4), **quiet)
        os.close(ours[0])
        os.close(theirs[1])
        self.write, self.read = ours[1], theirs[0]
        self.buffer, self.last, self.events, self.session = b"", 0, [], None
        target = self("Target.createTarget", url="about:blank")["targetId"]
        self.session = self("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ["Page", "Runtime", "Log", "Network", "DOM", "Accessibility"]:
            self(f"{domain}.enable")
        self("Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=0, uploadThroughput=0)

    def __call__(self, method, **params):
        self.last += 1
        message = {"id": self.last, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.write, data):]
        wanted = self.last
        answer = self.until(lambda m: m.get("id") == wanted, method)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error'].get('message')}")
        return answer["result"]

    def until(self, wanted, what):
        """Return the first wanted message and keep the events before it."""
        end = time.monotonic() + PATIENCE
        while True:
            while b"\0" in self.buffer:
                text, self.buffer = self.buffer.split(b"\0", 1)
                message = json.loads(text)
                if "method" in message:
                    self.events.append(message)
                if wanted(message):
                    return message
            if not select.select([self.read], [], [], max(0.0, end - time.monotonic()))[0]:
                raise RuntimeError(f"no answer within {PATIENCE:.0f} s: {what}")
            data = os.read(self.read, 1 << 20)
            if not data:
                raise RuntimeError(f"Chromium has ended: {what}")
            self.buffer += data

    def js(self, text):
        """Return the value of an expression in the page."""
        out = self("Runtime.evaluate", expression=text, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in out:
            raise RuntimeError(out["exceptionDetails"].get("exception", {}).get("description", text))
        return out["result"].get("value")

    def open(self, url, size):
        self.size(size)
        self.events.clear()
        self("Page.navigate", url=url)
        self.until(lambda m: m.get("method") == "Page.loadEventFired", f"loading {url}")
        self.js("document.fonts.ready.then(() => 1)")

    def size(self, size):
        self("Emulation.setDeviceMetricsOverride", width=size[0], height=size[1], deviceScaleFactor=1, mobile=False)

    def media(self, media="", scheme="light"):
        self("Emulation.setEmulatedMedia", media=media, features=[{"name": "prefers-color-scheme", "value": scheme}])

    def mouse(self, kind, x, y):
        button = {} if kind == "mouseMoved" else {"button": "left", "clickCount": 1}
        self("Input.dispatchMouseEvent", type=kind, x=x, y=y, **button)

    def click(self, x, y):
        for kind in ["mouseMoved", "mousePressed", "mouseReleased"]:
            self.mouse(kind, x, y)

    def key(self, name):
        codes = {"Escape": 27, "ArrowRight": 39, "ArrowLeft": 37, "ArrowDown": 40, "End": 35, "Home": 36, "Enter": 13, "Tab": 9, "Space": 32}
        texts = {"Enter": "\r", "Space": " "}
        shift, name = name.startswith("Shift+"), name.removeprefix("Shift+")
        params = {"key": texts[name] if name == "Space" else name, "code": name, "windowsVirtualKeyCode": codes[name], "modifiers": 8 if shift else 0}
        down = {"type": "keyDown", "text": texts[name]} if name in texts else {"type": "rawKeyDown"}
        self("Input.dispatchKeyEvent", **down, **params)
        self("Input.dispatchKeyEvent", type="keyUp", **params)

    def close(self):
        self.session = None
        try:
            self("Browser.close")
        except (RuntimeError, OSError):
            pass
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

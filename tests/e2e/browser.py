"""A headless Chromium for tests, driven through chromedriver (W3C WebDriver), and what its screenshots show."""

import base64
import http.client
import json
import shutil
import socket
import struct
import subprocess
import time
import zlib

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
ENTER, ESCAPE, TAB, SHIFT, ALT = "\ue007", "\ue00c", "\ue004", "\ue008", "\ue00a"


class Browser:
    """Use with `with`."""

    def __init__(self):
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.driver = subprocess.Popen([DRIVER, "--port=%d" % self.port], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + 20
        while True:
            try:
                if self.ask("GET", "/status")["ready"]:
                    break
            except OSError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.05)
        options = {"binary": CHROMIUM, "args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1280,900"]}
        session = self.ask("POST", "/session", {"capabilities": {"alwaysMatch": {
            "browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}}})
        self.session = "/session/" + session["sessionId"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.ask("DELETE", self.session)
        finally:
            self.driver.terminate()
            self.driver.wait(10)

    def ask(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, None if body is None else json.dumps(body))
            response = connection.getresponse()
            value = json.loads(response.read())["value"]
        finally:
            connection.close()
        if response.status != 200:
            raise RuntimeError(value)
        return value

    def open(self, url):
        self.ask("POST", self.session + "/url", {"url": url})

    def run(self, script, *arguments):
        """The value of an expression of JavaScript."""
        return self.ask("POST", self.session + "/execute/sync", {"script": "return " + script, "args": list(arguments)})

    def wait(self, script, seconds=20):
        """Until an expression is true; its value."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if value := self.run(script):
                return value
            time.sleep(0.05)
        raise AssertionError("never came true: " + script)

    def keys(self, *keys, hold=""):
        """Presses keys one after the other, of which `hold` stays down."""
        press = lambda kind, key: {"type": kind, "value": key}
        actions = [press("keyDown", k) for k in hold]
        for key in "".join(keys):
            actions += [press("keyDown", key), press("keyUp", key)]
        actions += [press("keyUp", k) for k in hold]
        self.ask("POST", self.session + "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def command(self, name, **parameters):
        """Of Chromium's own protocol."""
        return self.ask("POST", self.session + "/goog/cdp/execute", {"cmd": name, "params": parameters})

    def resize(self, width, height):
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def prefer(self, scheme):
        self.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def screenshot(self):
        return base64.b64decode(self.ask("GET", self.session + "/screenshot"))

    def console(self):
        """What was said there since the last call, refusals of the content policy among it."""
        return [entry["message"] for entry in self.ask("POST", self.session + "/se/log", {"type": "browser"})]


def pixels(png):
    """(width, height, rows of bytes, bytes a pixel) of a PNG with 8 bits a channel."""
    at, data = 8, b""
    while at < len(png):
        length, kind = struct.unpack_from(">I4s", png, at)
        body = png[at + 8:at + 8 + length]
        if kind == b"IHDR":
            width, height, depth, color = struct.unpack_from(">IIBB", body)
            assert depth == 8 and color in (2, 6)
        elif kind == b"IDAT":
            data += body
        at += 12 + length
    step = 3 if color == 2 else 4
    raw, stride = zlib.decompress(data), width * step
    rows, previous = [], bytearray(stride)
    for y in range(height):
        start = y * (stride + 1)
        row, kind = bytearray(raw[start + 1:start + 1 + stride]), raw[start]
        for x in range(stride):
            left = row[x - step] if x >= step else 0
            corner = previous[x - step] if x >= step else 0
            up = previous[x]
            if kind == 1:
                row[x] = row[x] + left & 255
            elif kind == 2:
                row[x] = row[x] + up & 255
            elif kind == 3:
                row[x] = row[x] + (left + up) // 2 & 255
            elif kind == 4:
                p = left + up - corner
                a, b, c = abs(p - left), abs(p - up), abs(p - corner)
                row[x] = row[x] + (left if a <= b and a <= c else up if b <= c else corner) & 255
        rows.append(row)
        previous = row
    return width, height, rows, step


def shares(png):
    """{color: share of the pixels}"""
    width, height, rows, step = pixels(png)
    counts = {}
    for row in rows[::3]:
        for x in range(0, width * step, 3 * step):
            color = bytes(row[x:x + 3])
            counts[color] = counts.get(color, 0) + 1
    total = sum(counts.values())
    return {color: n / total for color, n in counts.items()}

"""A peer for calls in headless Chromium, driven over the DevTools protocol; README.md says how it is driven."""

import asyncio
import base64
import contextlib
import itertools
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import numpy
from peer_support import emit
from rtc_hearing import RATE, read_audio
from rtc_support import Child, MediaPeer, codec_names, enter_namespace, ice_servers, media_options, run

PAGE = pathlib.Path(__file__).resolve().parent / "rtc_page.html"
FLAGS = (
    "--headless", "--no-sandbox", "--no-first-run", "--no-default-browser-check", "--disable-gpu",
    "--disable-extensions", "--disable-breakpad", "--disable-crash-reporter", "--disable-component-update",
    "--disable-background-networking", "--disable-sync", "--disable-default-apps", "--no-proxy-server",
    "--password-store=basic", "--use-mock-keychain", "--autoplay-policy=no-user-gesture-required",
    "--use-fake-device-for-media-stream", "--disable-background-timer-throttling",
    "--disable-renderer-backgrounding", "--disable-backgrounding-occluded-windows", "--mute-audio",
)


class Browser:
    """A browser and the pipe to it (--remote-debugging-pipe): messages of JSON, each ended by a zero byte."""

    def __init__(self):
        self.child = Child("voice-peer-chromium-")
        self.numbers = itertools.count(1)
        self.waiting = {}
        self.session = None
        self.has_ended = asyncio.Event()

    async def start(self, executable, flags, on_event):
        self.on_event = on_event
        home = self.child.folder / "home"
        home.mkdir()
        environment = {
            **os.environ, "HOME": str(home), "TMPDIR": str(home), "XDG_CONFIG_HOME": str(home),
            "XDG_CACHE_HOME": str(home), "XDG_RUNTIME_DIR": str(home), "DBUS_SESSION_BUS_ADDRESS": "disabled:"}
        to_browser, self.input = os.pipe()
        self.output, from_browser = os.pipe()
        # The browser reads its descriptor 3 and writes its descriptor 4.
        command = [
            "/bin/bash", "-c", f'exec "$@" 3<&{to_browser} 4>&{from_browser} {to_browser}<&- {from_browser}>&-',
            "browser", executable, *FLAGS, *flags, "--remote-debugging-pipe",
            f"--user-data-dir={self.child.folder / 'profile'}", "about:blank"]
        with open(self.child.folder / "log", "wb") as log:
            self.child.start(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment,
                pass_fds=(to_browser, from_browser))
        os.close(to_browser)
        os.close(from_browser)
        loop = asyncio.get_running_loop()
        self.reader = asyncio.StreamReader(limit=2**24)
        await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(self.reader), os.fdopen(self.output, "rb", 0))
        transport, protocol = await loop.connect_write_pipe(
            asyncio.streams.FlowControlMixin, os.fdopen(self.input, "wb", 0))
        self.writer = asyncio.StreamWriter(transport, protocol, None, loop)
        self.reading = asyncio.create_task(self.read())

    async def read(self):
        with contextlib.suppress(asyncio.IncompleteReadError, OSError):
            while True:
                message = json.loads((await self.reader.readuntil(b"\0"))[:-1])
                if "id" in message:
                    if (future := self.waiting.pop(message["id"], None)) and not future.done():
                        future.set_result(message)
                else:
                    self.on_event(message["method"], message.get("params", {}))
        self.has_ended.set()
        for future in self.waiting.values():
            if not future.done():
                future.set_exception(RuntimeError(f"the browser has ended: {self.log()}"))

    def log(self):
        with contextlib.suppress(OSError):
            return (self.child.folder / "log").read_text(errors="replace")[-600:]
        return "no log"

    async def send(self, method, timeout=15, **parameters):
        if self.has_ended.is_set():
            raise RuntimeError("the browser has ended")
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        self.waiting[number] = future = asyncio.get_running_loop().create_future()
        self.writer.write(json.dumps(message).encode() + b"\0")
        try:
            answer = await asyncio.wait_for(future, timeout)
        except TimeoutError:
            self.waiting.pop(number, None)
            raise RuntimeError(f"the browser did not answer {method} in {timeout} s: {self.log()}") from None
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error'].get('message')}")
        return answer["result"]

    async def call(self, function, *arguments, timeout=15):
        """Calls `peer.function(…)` in the page and waits for its promise."""
        text = ", ".join(json.dumps(argument) for argument in arguments)
        result = await self.send(
            "Runtime.evaluate", timeout=timeout, expression=f"(async () => peer.{function}({text}))()",
            awaitPromise=True, returnByValue=True)
        if details := result.get("exceptionDetails"):
            raise RuntimeError((details.get("exception") or {}).get("description") or details.get("text"))
        return result["result"].get("value") or {}


class ChromiumPeer(MediaPeer):
    browser = None

    async def start(self):
        executable = self.options.browser or shutil.which("chromium") or shutil.which("google-chrome")
        if not executable:
            raise RuntimeError("there is no chromium; run make setup-peers")
        self.browser = Browser()
        flags = ["--allow-loopback-in-peer-connection"] if self.options.loopback else []
        if not self.options.mdns:
            flags += ["--disable-features=WebRtcHideLocalIpsWithMdns", "--use-fake-ui-for-media-stream"]
        await self.browser.start(executable, flags + self.options.flag, self.happened)
        targets = await self.browser.send("Target.getTargets", timeout=30)
        page = next(target for target in targets["targetInfos"] if target["type"] == "page")
        attached = await self.browser.send("Target.attachToTarget", targetId=page["targetId"], flatten=True)
        self.browser.session = attached["sessionId"]
        self.loaded = asyncio.Event()
        await self.browser.send("Page.enable")
        await self.browser.send("Runtime.enable")
        for name in ("tell", "hear"):
            await self.browser.send("Runtime.addBinding", name=name)
        await self.browser.send("Page.navigate", url=PAGE.as_uri())
        await asyncio.wait_for(self.loaded.wait(), 20)
        await self.browser.call("start", {
            "tone": self.options.tone, "codecs": codec_names(self.options.codecs), "keys": not self.options.no_keys,
            "iceServers": list(ice_servers(self.options.ice_server)), "relayOnly": self.options.relay_only,
            "namesInterfaces": not self.options.mdns}, timeout=20)
        version = await self.browser.send("Browser.getVersion")
        emit("ready", peer=version["product"], pid=self.browser.child.process.pid)

    def happened(self, method, parameters):
        if method == "Page.loadEventFired":
            self.loaded.set()
        elif method == "Runtime.bindingCalled" and parameters["name"] == "hear":
            self.hearing.hear(numpy.frombuffer(base64.b64decode(parameters["payload"]), "<i2"))
        elif method == "Runtime.bindingCalled":
            event = json.loads(parameters["payload"])
            emit(event.pop("event"), **event)
            if (event.get("kind"), event.get("state")) == ("connection", "connected") and self.options.play:
                path, self.options.play = self.options.play, None
                self.spawn(self._handle({"do": "play", "file": path}))
        elif method == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            emit("failed", do="page", message=(details.get("exception") or {}).get("description") or details["text"])
        elif method == "Inspector.targetCrashed":
            emit("failed", do="page", message="the page crashed")

    async def do_offer(self, direction=None, trickle=False, restart=False, timeout=15):
        fields = {"direction": direction, "trickle": trickle, "restart": restart, "timeout": timeout}
        return "offer", await self.browser.call("offer", fields, timeout=timeout + 5)

    async def do_answer(self, sdp, direction=None, trickle=False, timeout=15):
        fields = {"sdp": sdp, "direction": direction, "trickle": trickle, "timeout": timeout}
        return "answer", await self.browser.call("answer", fields, timeout=timeout + 5)

    async def do_accept(self, sdp):
        return "accepted", await self.browser.call("accept", sdp)

    async def do_rollback(self):
        return "rolled-back", await self.browser.call("rollback")

    async def do_candidate(self, candidate, mid="0"):
        candidate = candidate.removeprefix("a=")
        await self.browser.call("pc.addIceCandidate", {"candidate": candidate, "sdpMid": mid})
        return "candidate-added", {"candidate": candidate}

    async def do_hold(self, direction="sendonly", **more):
        return await self.do_offer(direction=direction, **more)

    async def do_resume(self, **more):
        return await self.do_offer(direction="sendrecv", **more)

    async def do_restart(self, **more):
        return await self.do_offer(restart=True, **more)

    async def do_keys(self, keys, duration=100, gap=70):
        time_needed = len(keys) * (duration + gap) / 1000 + 10
        await self.browser.call("keys", {"keys": keys, "duration": duration, "gap": gap}, timeout=time_needed)
        return "keys-sent", {"keys": keys}

    async def do_speak(self, on=True):
        return "speaking", await self.browser.call("speaks", on)

    async def do_tone(self, hz):
        await self.browser.call("tone", hz)
        return "tone", {"hz": hz}

    async def do_play(self, file):
        samples = await asyncio.to_thread(read_audio, file)
        await self.browser.call("play", base64.b64encode(samples.astype("<i2").tobytes()).decode(), file)
        return "playing", {"file": file, "seconds": round(len(samples) / RATE, 2), "at": round(time.time(), 3)}

    async def do_close(self):
        await self.browser.call("pc.close")
        return "closed", {}

    async def do_kill(self):
        self.browser.child.signal(signal.SIGKILL)
        return "killed", {"at": round(time.time(), 3)}

    async def do_freeze(self):
        self.browser.child.signal(signal.SIGSTOP)
        return "frozen", {"at": round(time.time(), 3)}

    async def do_thaw(self):
        self.browser.child.signal(signal.SIGCONT)
        return "thawed", {"at": round(time.time(), 3)}

    async def statistics(self):
        return await self.browser.call("statistics")

    async def finish(self):
        if self.browser:
            self.browser.child.end()


def main():
    parser = media_options(__doc__)
    parser.add_argument("--mdns", action="store_true", help="hides local addresses behind mDNS names, as in a web page")
    parser.add_argument("--loopback", action="store_true", help="also uses loopback addresses")
    parser.add_argument("--no-keys", action="store_true", help="offers and accepts no telephone events")
    parser.add_argument("--browser", help="the executable, if not the first chromium on the path")
    parser.add_argument("--flag", action="append", default=[], help="a further flag of the browser")
    options = parser.parse_args()
    enter_namespace(options.namespace)
    run(ChromiumPeer, options)


if __name__ == "__main__":
    sys.exit(main())

"""Lets the media peers call each other, so that a test that fails with one of them does not fail because of it.

Usage: rtc_self_test.py [CASE…]; without cases all of them run. Prints a line per case; the status is 1 if one failed.
"""

import asyncio
import contextlib
import json
import pathlib
import sys
import tempfile
import time
import traceback
import wave

import numpy
from rtc_hearing import level_of, read_audio
from rtc_support import local_addresses

FOLDER = pathlib.Path(__file__).resolve().parent
CASES = {}


def case(function):
    CASES[function.__name__.replace("_", "-")] = function
    return function


class Driver:
    """A peer that is driven over its pipes."""

    def __init__(self, script, arguments):
        self.script, self.arguments = script, arguments
        self.history = []
        self.changed = asyncio.Condition()
        self.count = 0

    async def __aenter__(self):
        self.process = await asyncio.create_subprocess_exec(
            sys.executable, str(FOLDER / self.script), *map(str, self.arguments), stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE, limit=2**22)
        self.reader = asyncio.create_task(self.read())
        self.ready = await self.event("ready", 40)
        return self

    async def __aexit__(self, *_):
        self.process.stdin.close()
        try:
            await asyncio.wait_for(self.process.wait(), 10)
        except TimeoutError:
            self.process.kill()
            raise RuntimeError(f"{self.script} did not end with its input") from None
        finally:
            await self.reader

    async def read(self):
        async for line in self.process.stdout:
            event = json.loads(line)
            async with self.changed:
                self.history.append(event)
                self.changed.notify_all()
        async with self.changed:
            self.history.append({"event": "gone"})
            self.changed.notify_all()

    async def event(self, name, timeout=20, since=0, **fields):
        """The first such event after the first `since` ones; a failure of a command is an error."""
        async def find():
            index = since
            async with self.changed:
                while True:
                    while index < len(self.history):
                        event = self.history[index]
                        index += 1
                        if event["event"] == name and all(event.get(key) == value for key, value in fields.items()):
                            return event
                        if event["event"] in ("failed", "gone") and event.get("id") == fields.get("id"):
                            raise RuntimeError(f"{self.script}: {event}")
                    await self.changed.wait()
        try:
            return await asyncio.wait_for(find(), timeout)
        except TimeoutError:
            instead = quietly(self.history[since:])
            raise RuntimeError(f"{self.script}: no {name} {fields} in {timeout} s, but {instead}") from None

    async def do(self, name, event, timeout=20, **fields):
        self.count += 1
        since = len(self.history)
        self.process.stdin.write(json.dumps({"do": name, "id": self.count, **fields}).encode() + b"\n")
        await self.process.stdin.drain()
        return await self.event(event, timeout, since, id=self.count)

    async def process_command(self, name, event):
        """A command to a program whose events carry no number."""
        since = len(self.history)
        self.process.stdin.write(json.dumps({"do": name}).encode() + b"\n")
        return await self.event(event, since=since)

    async def state(self, kind, state, timeout=20, since=0):
        return await self.event("state", timeout, since, kind=kind, state=state)

    async def hears(self, hz, **more):
        return await self.do("listen", "heard", hz=hz, **more)


def quietly(events):
    return [event for event in events if event["event"] != "report"]


def aiortc(*arguments):
    return Driver("rtc_aiortc.py", arguments)


def chromium(*arguments):
    return Driver("rtc_chromium.py", arguments)


def turn_server(*arguments):
    return Driver("turn_server.py", arguments)


async def connect(caller, callee, first=None):
    offer = first or await caller.do("offer", "offer")
    answer = await callee.do("answer", "answer", sdp=offer["sdp"])
    await caller.do("accept", "accepted", sdp=answer["sdp"])


async def pass_candidates(sender, receiver):
    """Passes candidates on as they come, with the empty one that ends them."""
    since = 0
    while True:
        event = await sender.event("candidate", since=since)
        since = sender.history.index(event) + 1
        await receiver.do("candidate", "candidate-added", candidate=event["candidate"], mid=event["mid"])
        if not event["candidate"]:
            return


async def call_each_other(caller, callee, codec):
    """Tones of 440 and 700 Hz, both ways."""
    began = time.monotonic()
    await connect(caller, callee)
    heard = await asyncio.gather(caller.hears(700, seconds=1, timeout=20), callee.hears(440, seconds=1, timeout=20))
    reports = [await peer.do("report", "report") for peer in (caller, callee)]
    for report in reports:
        assert report["codec"] == codec, report
        assert report["received"]["packets"] > 0 and report["sent"]["packets"] > 0, report
    shares = " ".join(f"{one['hz']} Hz {one['share']}" for one in heard)
    return f"{shares}, {time.monotonic() - began:.1f} s until a second of it was heard"


async def hold_and_resume(holder, held, tone_of_holder, tone_of_held):
    await connect(holder, held, first=await holder.do("hold", "offer"))
    await asyncio.gather(holder.hears(0), held.hears(tone_of_holder))
    await connect(holder, held, first=await holder.do("hold", "offer", direction="inactive"))
    await asyncio.gather(holder.hears(0), held.hears(0))
    await connect(holder, held, first=await holder.do("resume", "offer"))
    await asyncio.gather(holder.hears(tone_of_held), held.hears(tone_of_holder))


@case
async def aiortc_calls_aiortc():
    async with aiortc("--tone", 440) as caller, aiortc("--tone", 700) as callee:
        result = await call_each_other(caller, callee, "opus")
        await hold_and_resume(caller, callee, 440, 700)
        await hold_and_resume(callee, caller, 700, 440)
        await caller.do("close", "closed")
        await callee.event("track-ended")
        return result


@case
async def aiortc_calls_aiortc_on_loopback():
    options = ("--address", "127.0.0.1", "--codecs", "PCMU")
    async with aiortc(*options, "--tone", 440) as caller, aiortc(*options, "--tone", 700) as callee:
        return await call_each_other(caller, callee, "PCMU")


@case
async def aiortc_calls_chromium():
    async with aiortc("--tone", 440) as caller, chromium("--tone", 700) as callee:
        result = await call_each_other(caller, callee, "opus")
        await hold_and_resume(caller, callee, 440, 700)
        await hold_and_resume(callee, caller, 700, 440)
        since = len(callee.history)
        await caller.do("close", "closed")
        await callee.state("dtls", "closed", since=since)
        return result


@case
async def aiortc_calls_chromium_pcmu():
    options = ("--codecs", "PCMU")
    async with aiortc(*options, "--tone", 440) as caller, chromium(*options, "--tone", 700) as callee:
        return await call_each_other(caller, callee, "PCMU")


@case
async def chromium_calls_aiortc():
    async with chromium("--tone", 440) as caller, aiortc("--tone", 700) as callee:
        result = await call_each_other(caller, callee, "opus")
        await hold_and_resume(caller, callee, 440, 700)
        await hold_and_resume(callee, caller, 700, 440)
        await caller.do("close", "closed")
        await callee.event("track-ended")
        return result


@case
async def chromium_calls_aiortc_pcma():
    async with chromium("--tone", 440) as caller, aiortc("--codecs", "PCMA", "--tone", 700) as callee:
        return await call_each_other(caller, callee, "PCMA")


@case
async def aiortc_misses_a_killed_chromium():
    async with chromium("--tone", 440) as caller, aiortc("--tone", 700) as callee:
        await call_each_other(caller, callee, "opus")
        await caller.do("freeze", "frozen")
        await callee.hears(0)
        await caller.do("thaw", "thawed")
        await callee.hears(440)
        await caller.do("kill", "killed")
        await callee.hears(0)
        with contextlib.suppress(RuntimeError):
            await caller.do("report", "report")
            raise AssertionError("a killed browser reports")


@case
async def chromium_calls_chromium_trickle():
    async with chromium("--tone", 440) as caller, chromium("--tone", 700) as callee:
        offer = await caller.do("offer", "offer", trickle=True)
        assert "a=candidate" not in offer["sdp"], offer
        answer = await callee.do("answer", "answer", sdp=offer["sdp"], trickle=True)
        await caller.do("accept", "accepted", sdp=answer["sdp"])
        await asyncio.gather(pass_candidates(caller, callee), pass_candidates(callee, caller))
        await asyncio.gather(caller.hears(700), callee.hears(440))
        await hold_and_resume(caller, callee, 440, 700)
        await hold_and_resume(callee, caller, 700, 440)
        before = await caller.do("report", "report")
        assert before["dtls"]["srtp"] and before["dtls"]["cipher"] and before["pair"]["local"]["address"], before
        # Restarts from both sides, without a pause in the audio.
        for one, other in [(caller, callee), (callee, caller)]:
            since = len(other.history)
            again = await one.do("restart", "offer")
            assert fragment(again["sdp"]) != fragment(offer["sdp"])
            await connect(one, other, first=again)
            await asyncio.sleep(1)
            await asyncio.gather(caller.hears(700), callee.hears(440))
            assert not [event for event in other.history[since:] if event["event"] == "audio"], other.history[since:]
        after = await caller.do("report", "report")
        assert after["pairChanges"] >= before["pairChanges"] + 2, after
        return f"{after['dtls']['version']} {after['dtls']['cipher']} {after['dtls']['srtp']}"


@case
async def chromium_sends_keys():
    for codecs in ("opus", "PCMU"):
        async with chromium("--tone", 0, "--codecs", codecs) as caller, chromium("--tone", 0) as callee:
            await connect(caller, callee)
            await caller.state("connection", "connected")
            await asyncio.sleep(0.5)
            await caller.do("keys", "keys-sent", keys="147*2580369#ABCD")
            await asyncio.sleep(0.5)
            found = "".join(event["key"] for event in callee.history if event["event"] == "key")
            assert found == "147*2580369#ABCD", found


@case
async def chromium_hides_its_addresses():
    async with chromium("--mdns") as caller, chromium() as callee:
        offer = await caller.do("offer", "offer")
        candidates = [line for line in offer["sdp"].splitlines() if line.startswith("a=candidate")]
        assert candidates and all(".local " in line for line in candidates), offer
        await connect(caller, callee, first=offer)
        await asyncio.gather(caller.hears(440), callee.hears(440))
        report = await callee.do("report", "report")
        return f"heard through a {report['pair']['remote']['kind']} candidate"


@case
async def files_are_played_and_recorded():
    recording = "/usr/share/pocketsphinx/test/data/goforward.raw"
    with tempfile.TemporaryDirectory(prefix="voice-peer-test-") as folder:
        folder = pathlib.Path(folder)
        spoken, records = folder / "spoken.wav", [folder / "one.wav", folder / "two.wav"]
        if pathlib.Path(recording).exists():
            samples = numpy.fromfile(recording, "<i2")
        else:
            samples = (numpy.sin(numpy.arange(32000) ** 1.5 / 4000) * 8000).astype("<i2")
        write_wav(spoken, samples, 16_000)
        caller = aiortc("--tone", 0, "--play", spoken, "--record", records[0])
        callee = chromium("--tone", 0, "--record", records[1])
        async with caller, callee:
            await connect(caller, callee)
            await caller.event("played", timeout=30)
            await asyncio.sleep(0.5)
            await callee.do("play", "playing", file=str(spoken))
            await callee.event("played")
            await asyncio.sleep(0.7)
        original = read_audio(spoken)
        found = [likeness(original, read_audio(record)) for record in records]
        assert min(found) > 0.6, found
        return f"correlation {found[0]:.2f} {found[1]:.2f}"


async def relayed(transport, kind):
    address = (local_addresses() or ["127.0.0.1"])[0]
    async with turn_server("--address", address, *(["--tls"] if kind == "turns" else [])) as server:
        ready = server.ready
        port = ready["tlsPort"] if kind == "turns" else ready["port"]
        url = f"{kind}:{address}:{port}?transport={transport}|{ready['user']}|{ready['password']}"
        options = ["--ice-server", url, "--relay-only"]
        browser = [*options, "--flag=--ignore-certificate-errors"]
        async with chromium(*browser, "--tone", 440) as caller, chromium(*browser, "--tone", 700) as callee:
            result = await call_each_other(caller, callee, "opus")
            pair = (await caller.do("report", "report"))["pair"]
            wanted = "tls" if kind == "turns" else transport
            assert pair["local"]["kind"] == "relay" and pair["local"]["relayProtocol"] == wanted, pair
            # Without its server the call falls silent.
            await server.process_command("freeze", "frozen")
            await asyncio.gather(caller.hears(0), callee.hears(0))
            await server.process_command("thaw", "thawed")
            await asyncio.gather(caller.hears(700), callee.hears(440))
        if kind == "turn":
            async with aiortc(*options, "--tone", 440) as caller, chromium(*options, "--tone", 700) as callee:
                await call_each_other(caller, callee, "opus")
        return result


@case
async def relayed_over_udp():
    return await relayed("udp", "turn")


@case
async def relayed_over_tcp():
    return await relayed("tcp", "turn")


@case
async def relayed_over_tls():
    return await relayed("tcp", "turns")


@case
async def one_of_two_paths_goes_down():
    async with Driver("netns_paths.py", []) as paths:
        near, far = paths.ready["a"], paths.ready["b"]
        results = []
        for manner in ("silence", "link", "address"):
            async with (
                chromium("--namespace", near, "--tone", 440) as caller,
                chromium("--namespace", far, "--tone", 700) as callee,
            ):
                await connect(caller, callee)
                await asyncio.gather(caller.hears(700), callee.hears(440))
                before = await caller.do("report", "report")
                address = before["pair"]["local"]["address"]
                path = next(path["path"] for path in paths.ready["paths"] if path["a"]["address"] == address)
                since = len(callee.history)
                await paths.do("down", "down", path=path, manner=manner)
                await callee.event("audio", since=since, audible=False)
                back = await callee.event("audio", since=since, audible=True, timeout=40)
                after = await caller.do("report", "report")
                assert after["pair"]["local"]["address"] != address, after
                results.append(f"{manner}: {back['gap']} s")
                await paths.do("up", "up", path=path)
        return "Chromium was silent after " + ", ".join(results)


@case
async def peers_on_a_machine_with_loopback_alone():
    async with Driver("netns_paths.py", []) as paths:
        for path in (1, 2):
            await paths.do("down", "down", path=path, manner="address", side="a")
        inside = ["--namespace", paths.ready["a"]]
        async with (
            aiortc(*inside, "--address", "127.0.0.1", "--tone", 440) as caller,
            chromium(*inside, "--loopback", "--tone", 700) as callee,
        ):
            result = await call_each_other(caller, callee, "opus")
        process = await asyncio.create_subprocess_exec(
            sys.executable, str(FOLDER / "rtc_aiortc.py"), *inside, stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE)
        output, _ = await process.communicate()
        assert json.loads(output)["event"] == "failed" and b"--address 127.0.0.1" in output, output
        return result


@case
async def paths_begin_here():
    async with Driver("netns_paths.py", ["--here", "--network", "10.79"]) as paths:
        assert paths.ready["a"] is None, paths.ready
        addresses = [argument for path in (1, 2) for argument in ("--address", f"10.79.{path}.1")]
        async with (
            aiortc(*addresses, "--tone", 440) as caller,
            aiortc("--namespace", paths.ready["b"], "--tone", 700) as callee,
        ):
            result = await call_each_other(caller, callee, "opus")
            await caller.do("quit", "ended")
        return result


@case
async def offers_are_taken_back():
    async with chromium("--tone", 440) as one, chromium("--tone", 700) as other:
        await connect(one, other)
        await one.do("hold", "offer")
        await one.do("rollback", "rolled-back")
        await connect(other, one, first=await other.do("offer", "offer"))
        await asyncio.gather(one.hears(700), other.hears(440))


@case
async def failures_are_told():
    async with aiortc("--report", 0) as one, chromium("--report", 0) as two:
        for peer in (one, two):
            for name, fields in [
                ("nonsense", {}), ("answer", {"sdp": "garbage"}), ("accept", {"sdp": "garbage"}), ("answer", {}),
                ("play", {"file": "/nowhere"}), ("listen", {"hz": 440, "timeout": 0.3}), ("keys", {"keys": "1"}),
            ]:
                with contextlib.suppress(RuntimeError):
                    raise AssertionError(await peer.do(name, "heard", **fields))
            await peer.do("offer", "offer")
        with contextlib.suppress(RuntimeError):
            raise AssertionError(await one.do("restart", "offer"))


@case
async def nothing_is_left_behind():
    before = remains()
    for script, arguments in [("rtc_chromium.py", []), ("turn_server.py", ["--tls"]), ("netns_paths.py", [])]:
        async with Driver(script, arguments) as peer:
            assert remains() != before
            peer.process.kill()
            await peer.process.wait()
        for _ in range(100):
            if remains() == before:
                break
            await asyncio.sleep(0.1)
        assert remains() == before, (script, remains())


def remains():
    """The folders and the processes of children, and namespaces."""
    folders = {path.name for path in pathlib.Path(tempfile.gettempdir()).glob("voice-peer-*")}
    processes = set()
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if tempfile.gettempdir() + "/voice-peer-" in path.read_text(errors="replace"):
                processes.add(path.parent.name)
    namespaces = {path.name for path in pathlib.Path("/run/netns").glob("vp*")}
    return folders, processes, namespaces


def fragment(sdp):
    return next(line for line in sdp.splitlines() if line.startswith("a=ice-ufrag:"))


def write_wav(path, samples, rate):
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(samples.tobytes())


def likeness(wanted, heard):
    """How well the loud parts of 0.4 s of `wanted` are found again, from 0 to 1: the median of their correlations.

    Part by part, because receivers stretch what they play.
    """
    length = 19_200
    size = len(heard) + length
    spectrum = numpy.fft.rfft(heard, size)
    energy = numpy.concatenate([[0], numpy.cumsum(heard.astype(float) ** 2)])
    places = len(heard) - length
    norms = numpy.sqrt(energy[length : length + places] - energy[:places])
    found = []
    for start in range(0, len(wanted) - length, length):
        part = wanted[start : start + length].astype(float)
        if level_of(part) > -35:
            product = numpy.fft.irfft(spectrum * numpy.conj(numpy.fft.rfft(part, size)), size)[:places]
            found.append(float((product / (norms * numpy.linalg.norm(part) + 1e5)).max()))
    assert found, "the file is silent"
    return float(numpy.median(found))


async def main():
    names = sys.argv[1:] or list(CASES)
    failed = []
    for name in names:
        began = time.monotonic()
        try:
            result = await asyncio.wait_for(CASES[name](), 120)
            print(f"ok      {name} ({time.monotonic() - began:.1f} s): {result or 'as it should'}", flush=True)
        except Exception as error:
            failed.append(name)
            print(f"FAILED  {name}: {error!r}\n{traceback.format_exc(limit=-4)}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(main())

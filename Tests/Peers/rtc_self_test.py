"""Lets the media peers call each other, so that a test that fails with one of them does not fail because of it.

Usage: rtc_self_test.py [CASE…]; without cases all of them run. Prints one line per case, and ends with status 1 if one failed.
"""

import asyncio
import contextlib
import json
import pathlib
import sys
import time
import traceback

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
            raise RuntimeError(f"{self.script}: no {name} {fields} in {timeout} s: {self.history[since:]}") from None

    async def do(self, name, event, timeout=20, **fields):
        self.count += 1
        since = len(self.history)
        self.process.stdin.write(json.dumps({"do": name, "id": self.count, **fields}).encode() + b"\n")
        await self.process.stdin.drain()
        return await self.event(event, timeout, since, id=self.count)

    async def state(self, kind, state, timeout=20, since=0):
        return await self.event("state", timeout, since, kind=kind, state=state)

    async def hears(self, hz, **more):
        return await self.do("listen", "heard", hz=hz, **more)


def aiortc(*arguments):
    return Driver("rtc_aiortc.py", arguments)


async def connect(caller, callee, trickle=False, first=None):
    offer = first or await caller.do("offer", "offer")
    answer = await callee.do("answer", "answer", sdp=offer["sdp"])
    await caller.do("accept", "accepted", sdp=answer["sdp"])


async def call_each_other(caller, callee, codec):
    """Tones of 440 and 700 Hz, both ways."""
    began = time.monotonic()
    await connect(caller, callee)
    heard = await asyncio.gather(caller.hears(700, seconds=1, timeout=20), callee.hears(440, seconds=1, timeout=20))
    reports = [await peer.do("report", "report") for peer in (caller, callee)]
    for report in reports:
        assert report["codec"] == codec, report
        assert report["received"]["packets"] > 20 and report["sent"]["packets"] > 20, report
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

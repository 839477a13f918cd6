#!/usr/bin/env python3
"""Does with Chromium what `bench-media speech` does with our stack: speech FOLDER; one JSON object."""

import asyncio
import base64
import json
import os
import pathlib
import shutil
import sys

import numpy

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "Tests" / "Peers"))
from rtc_chromium import Browser  # noqa: E402

FLAGS = ("--allow-loopback-in-peer-connection", "--disable-features=WebRtcHideLocalIpsWithMdns")


async def speech(folder):
    executable = shutil.which("chromium")
    if not executable:
        raise SystemExit("there is no chromium; run make setup-peers")
    browser, loaded = Browser(), asyncio.Event()
    try:
        await browser.start(
            executable, FLAGS, lambda method, _: loaded.set() if method == "Page.loadEventFired" else None)
        targets = await browser.send("Target.getTargets", timeout=30)
        page = next(target for target in targets["targetInfos"] if target["type"] == "page")
        attached = await browser.send("Target.attachToTarget", targetId=page["targetId"], flatten=True)
        browser.session = attached["sessionId"]
        await browser.send("Page.enable")
        await browser.send("Page.navigate", url=(HERE / "browser_media.html").as_uri())
        await asyncio.wait_for(loaded.wait(), 20)
        await browser.call("start", timeout=20)
        files = sorted(pathlib.Path(folder).glob("*.raw"))

        async def cross(file):
            sent = base64.b64encode(file.read_bytes()).decode()
            heard = numpy.frombuffer(base64.b64decode(await browser.call("cross", sent, timeout=60)), "<i2")
            heard.tofile(file.with_suffix(".heard"))
            return len(heard) / 48000

        seconds = await asyncio.gather(*map(cross, files))
        return {"calls": len(files), "seconds": sum(seconds)}
    finally:
        browser.child.end()


if __name__ == "__main__":
    # What is preloaded is for the browser, whose processes inherit it.
    os.environ.setdefault("LOSS_PERCENT", "0")
    print(json.dumps(asyncio.run({"speech": speech}[sys.argv[1]](*sys.argv[2:]))))

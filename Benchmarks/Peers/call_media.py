#!/usr/bin/env python3
"""Does with aiortc what bench-media does with our stack: CALLS SECONDS as arguments, one JSON object as output."""

import asyncio
import fractions
import json
import resource
import sys
import time

import av
import numpy
from aiortc import MediaStreamTrack, RTCPeerConnection

TONE = (9000 * numpy.sin(2 * numpy.pi * 440 * numpy.arange(48000) / 48000)).astype(numpy.int16)


class Talker(MediaStreamTrack):
    """A tone in frames of 20 ms, at the pace of the clock."""

    kind = "audio"

    def __init__(self):
        super().__init__()
        self.position = 0
        self.began = None

    async def recv(self):
        if self.began is None:
            self.began = time.monotonic()
        await asyncio.sleep(max(0, self.began + self.position / 48000 - time.monotonic()))
        start = self.position % 48000
        frame = av.AudioFrame.from_ndarray(TONE[start:start + 960].reshape(1, -1), format="s16", layout="mono")
        frame.sample_rate = 48000
        frame.pts = self.position
        frame.time_base = fractions.Fraction(1, 48000)
        self.position += 960
        return frame


async def listen(track, heard):
    while True:
        frame = await track.recv()
        if not heard.is_set() and numpy.abs(frame.to_ndarray()).max() > 1000:
            heard.set()


def status(name):
    with open("/proc/self/status") as file:
        return next(float(line.split()[1]) for line in file if line.startswith(name + ":"))


async def main(calls, seconds):
    idle = status("VmRSS")
    first, peers, tasks = [], [], []
    for _ in range(calls):
        began = time.monotonic()
        caller, callee = RTCPeerConnection(), RTCPeerConnection()
        heard = {caller: asyncio.Event(), callee: asyncio.Event()}
        for peer in (caller, callee):
            peer.addTrack(Talker())
            peer.on("track", lambda track, peer=peer: tasks.append(asyncio.ensure_future(listen(track, heard[peer]))))
        await caller.setLocalDescription(await caller.createOffer())
        await callee.setRemoteDescription(caller.localDescription)
        await callee.setLocalDescription(await callee.createAnswer())
        await caller.setRemoteDescription(callee.localDescription)
        await heard[caller].wait()
        first.append((time.monotonic() - began) * 1000)
        peers += [caller, callee]
    before = resource.getrusage(resource.RUSAGE_SELF)
    await asyncio.sleep(seconds)
    after = resource.getrusage(resource.RUSAGE_SELF)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(json.dumps({
        "firstAudio": sorted(first)[len(first) // 2], "cpuPerEnd": cpu / seconds / len(peers),
        "threads": status("Threads"), "megabytesPerEnd": (status("VmRSS") - idle) / 1024 / len(peers),
    }), flush=True)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*(peer.close() for peer in peers), return_exceptions=True)


asyncio.run(main(int(sys.argv[1]), int(sys.argv[2])))

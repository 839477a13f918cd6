#!/usr/bin/env python3
"""Does with aiortc what bench-media does with our stack: load CALLS SECONDS [FILE], delay COUNT, speech FOLDER; one JSON object."""

import asyncio
import fractions
import json
import pathlib
import resource
import sys
import time

import av
import numpy
from aiortc import MediaStreamTrack, RTCPeerConnection

TONE = (9000 * numpy.sin(2 * numpy.pi * 440 * numpy.arange(48000) / 48000)).astype(numpy.int16)
SILENCE = numpy.zeros(960, numpy.int16)
AUDIBLE = 1000


class Talker(MediaStreamTrack):
    """Frames of 20 ms, at the pace of the clock: the tone, or what `next_frame` returns."""

    kind = "audio"

    def __init__(self, next_frame=None):
        super().__init__()
        self.position = 0
        self.began = None
        self.next_frame = next_frame or (lambda position, due: TONE[position % 48000:][:960])

    async def recv(self):
        if self.began is None:
            self.began = time.monotonic()
        due = self.began + self.position / 48000
        await asyncio.sleep(max(0, due - time.monotonic()))
        frame = av.AudioFrame.from_ndarray(self.next_frame(self.position, due).reshape(1, -1), "s16", "mono")
        frame.sample_rate = 48000
        frame.pts = self.position
        frame.time_base = fractions.Fraction(1, 48000)
        self.position += 960
        return frame


def mono(frame):
    """The samples of a frame of the decoder, which is always stereo, interleaved."""
    samples = frame.to_ndarray().reshape(-1, len(frame.layout.channels))
    return samples.astype(numpy.int32).mean(axis=1).astype(numpy.int16)


async def connect(on_caller_frame, on_callee_frame, caller_track, callee_track, tasks):
    caller, callee = RTCPeerConnection(), RTCPeerConnection()

    async def listen(track, on_frame):
        while True:
            on_frame(await track.recv())

    for peer, track, on_frame in (
            (caller, caller_track, on_caller_frame), (callee, callee_track, on_callee_frame)):
        peer.addTrack(track)
        peer.on("track", lambda track, on_frame=on_frame: tasks.append(asyncio.ensure_future(listen(track, on_frame))))
    await caller.setLocalDescription(await caller.createOffer())
    await callee.setRemoteDescription(caller.localDescription)
    await callee.setLocalDescription(await callee.createAnswer())
    await caller.setRemoteDescription(callee.localDescription)
    return [caller, callee]


async def finish(peers, tasks):
    for task in tasks:
        task.cancel()
    await asyncio.gather(*(peer.close() for peer in peers), return_exceptions=True)


def status(name):
    with open("/proc/self/status") as file:
        return next(float(line.split()[1]) for line in file if line.startswith(name + ":"))


async def load(calls, seconds, file=None):
    calls, seconds = int(calls), int(seconds)
    sound = TONE if file is None else numpy.fromfile(file, "<i2")
    sound = sound[:len(sound) // 960 * 960]
    audible_share = numpy.mean(numpy.abs(sound.reshape(-1, 960).astype(numpy.int32)).max(axis=1) > AUDIBLE)

    def say(position, due):
        return sound[position % len(sound):][:960]

    idle = status("VmRSS")
    first, peers, tasks = [], [], []
    audible = 0
    for _ in range(calls):
        began = time.monotonic()
        heard = asyncio.Event()

        def listen(frame, heard=heard):
            nonlocal audible
            if numpy.abs(frame.to_ndarray()).max() > AUDIBLE:
                audible += frame.samples
                heard.set()

        peers += await connect(
            listen, lambda frame: listen(frame, asyncio.Event()),
            Talker(say), Talker(say), tasks)
        await heard.wait()
        first.append((time.monotonic() - began) * 1000)
    before, audible_before, began = resource.getrusage(resource.RUSAGE_SELF), audible, time.monotonic()
    await asyncio.sleep(seconds)
    seconds = time.monotonic() - began
    after = resource.getrusage(resource.RUSAGE_SELF)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    result = {
        "firstAudio": sorted(first)[len(first) // 2], "cpuPerEnd": cpu / seconds / len(peers),
        "heard": (audible - audible_before) / 48000 / seconds / len(peers) / audible_share,
        "threads": status("Threads"), "megabytesPerEnd": (status("VmRSS") - idle) / 1024 / len(peers),
    }
    await finish(peers, tasks)
    return result


async def delay(count):
    """Sounds as in bench-media: what a frame holds was captured in the 20 ms before it is handed over."""
    period, made, delays, tasks = 40, [None], [], []

    def next_frame(position, due):
        number = position // 960
        if number < 50 or number % period != 10:
            return SILENCE
        made[0] = due - 0.02
        return TONE[:960]

    def listen(frame):
        now = time.monotonic()
        audible = numpy.flatnonzero(numpy.abs(mono(frame).astype(numpy.int32)) > AUDIBLE)
        if len(audible) and made[0] is not None:
            delays.append((now - made[0]) * 1000 + audible[0] / 48)
            made[0] = None

    peers = await connect(
        lambda frame: None, listen, Talker(next_frame), Talker(lambda position, due: SILENCE), tasks)
    await asyncio.sleep(1 + int(count) * period * 0.02 + 1)
    await finish(peers, tasks)
    delays.sort()
    if not delays:
        return {"heard": 0}
    return {
        "heard": len(delays), "p50": delays[len(delays) // 2],
        "p95": delays[min(len(delays) - 1, len(delays) * 95 // 100)]}


async def speech(folder):
    """What the other side hears is put where its timestamps say, so that what was lost leaves a gap and moves nothing."""
    files = sorted(pathlib.Path(folder).glob("*.raw"))
    peers, tasks, heard = [], [], {}
    longest = 0
    for file in files:
        samples = numpy.fromfile(file, "<i2")
        longest = max(longest, len(samples) / 48000)
        frames = heard[file] = []

        def next_frame(position, due, samples=samples):
            frame = samples[position:position + 960]
            return numpy.concatenate([frame, SILENCE[len(frame):]])

        peers += await connect(
            lambda frame: None, lambda frame, frames=frames: frames.append((frame.pts, mono(frame))),
            Talker(next_frame), Talker(lambda position, due: SILENCE), tasks)
    await asyncio.sleep(longest + 1.5)
    await finish(peers, tasks)
    seconds = 0
    for file, frames in heard.items():
        first = frames[0][0] if frames else 0
        end = max((pts - first + len(samples) for pts, samples in frames), default=0)
        whole = numpy.zeros(end, numpy.int16)
        for pts, samples in frames:
            whole[pts - first:pts - first + len(samples)] = samples
        whole.astype("<i2").tofile(file.with_suffix(".heard"))
        seconds += end / 48000
    return {"calls": len(files), "seconds": seconds}


if __name__ == "__main__":
    print(json.dumps(asyncio.run({"load": load, "delay": delay, "speech": speech}[sys.argv[1]](*sys.argv[2:]))))

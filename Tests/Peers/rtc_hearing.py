"""What a media peer sends and what it hears: tones, files, spectra, keys. Samples are mono, 16 bits, 48 kHz."""

import asyncio
import collections
import time
import wave

import av
import numpy
from peer_support import emit

RATE = 48_000
BLOCK = RATE // 50
# Audio below this level counts as none, in dB below full scale.
SILENCE = -50.0
# So long must it last until it is called silence; concealment and codecs' gaps are shorter.
SILENT_BLOCKS = 10

KEYS = ("123A", "456B", "789C", "*0#D")
ROWS = (697, 770, 852, 941)
COLUMNS = (1209, 1336, 1477, 1633)


def read_audio(path):
    """The samples of a file in any format that the libraries of ffmpeg read."""
    resampler = av.AudioResampler(format="s16", layout="mono", rate=RATE)
    parts = []
    with av.open(str(path)) as container:
        for frame in container.decode(audio=0):
            parts += [part.to_ndarray()[0] for part in resampler.resample(frame)]
        parts += [part.to_ndarray()[0] for part in resampler.resample(None)]
    return numpy.concatenate(parts) if parts else numpy.zeros(0, numpy.int16)


def level_of(samples):
    """The level in dB below full scale; -120 is the least."""
    if not len(samples):
        return -120.0
    power = numpy.mean((samples.astype(numpy.float64) / 32768) ** 2)
    return round(float(max(10 * numpy.log10(power + 1e-12), -120)), 1)


def spectrum_of(samples):
    """The strongest tone and its share of the energy, and the three strongest tones."""
    if len(samples) < BLOCK or level_of(samples) <= -90:
        return {"hz": 0, "share": 0, "tones": []}
    window = numpy.hanning(len(samples))
    power = numpy.abs(numpy.fft.rfft((samples - samples.mean()) * window)) ** 2
    total = power.sum()
    width = RATE / len(samples)
    # A tone fills the main lobe of the window; besides, codecs move it by some Hertz.
    reach = max(4, round(12 / width))
    tones, rest = [], power.copy()
    for _ in range(3):
        peak = int(rest.argmax())
        low, high = max(peak - reach, 0), min(peak + reach + 1, len(rest))
        share = rest[low:high].sum() / total
        if share < 0.01:
            break
        # The centre of gravity lies between the bins.
        near = slice(max(peak - 2, 0), peak + 3)
        hz = float((numpy.arange(len(power))[near] * power[near]).sum() / power[near].sum() * width)
        tones.append({"hz": round(hz, 1), "share": round(float(share), 3)})
        rest[low:high] = 0
    return {"hz": tones[0]["hz"], "share": tones[0]["share"], "tones": tones}


class Source:
    """What is sent: a tone, or once a file, in blocks of 20 ms."""

    def __init__(self, hz, amplitude=0.25):
        self.hz = hz
        self.amplitude = amplitude
        self.phase = 0.0
        self.file = None
        self.position = 0
        self.when_played = None

    def play(self, samples, when_played):
        self.file, self.position, self.when_played = samples, 0, when_played

    def block(self):
        if self.file is not None:
            part = self.file[self.position : self.position + BLOCK]
            self.position += BLOCK
            if self.position >= len(self.file):
                self.file = None
                self.when_played()
            return numpy.pad(part, (0, BLOCK - len(part)))
        if not self.hz:
            return numpy.zeros(BLOCK, numpy.int16)
        step = 2 * numpy.pi * self.hz / RATE
        wave_form = numpy.sin(self.phase + step * numpy.arange(BLOCK)) * self.amplitude * 32767
        self.phase = (self.phase + step * BLOCK) % (2 * numpy.pi)
        return wave_form.astype(numpy.int16)


class Hearing:
    """Measures what arrives, tells when audio begins and ends and which keys are heard, and records it."""

    def __init__(self, record=None):
        self.started = None
        self.count = 0
        self.recent = collections.deque(maxlen=100)
        self.rest = numpy.zeros(0, numpy.int16)
        self.is_audible = False
        self.quiet_blocks = SILENT_BLOCKS
        self.silent_since = None
        self.changed = asyncio.Condition()
        self.keys = KeyFinder()
        self.file = None
        if record:
            self.file = wave.open(record, "wb")
            self.file.setnchannels(1)
            self.file.setsampwidth(2)
            self.file.setframerate(RATE)

    def hear(self, samples):
        if self.started is None:
            self.started = time.monotonic() - len(samples) / RATE
        self.count += len(samples)
        if self.file:
            self.file.writeframes(samples.astype("<i2").tobytes())
        samples = numpy.concatenate([self.rest, samples])
        whole = len(samples) - len(samples) % BLOCK
        for start in range(0, whole, BLOCK):
            self._heard_block(samples[start : start + BLOCK])
        self.rest = samples[whole:]

    async def fill_gaps(self):
        """Where nothing comes at all there is silence: keeps the time of the recording that of the world."""
        while True:
            await asyncio.sleep(0.1)
            if self.started is not None:
                missing = int((time.monotonic() - self.started) * RATE) - self.count
                if missing > RATE // 2:
                    self.hear(numpy.zeros(missing, numpy.int16))
            async with self.changed:
                self.changed.notify_all()

    def _heard_block(self, block):
        self.recent.append(block)
        if level_of(block) > SILENCE:
            self.quiet_blocks = 0
            if not self.is_audible:
                self.is_audible = True
                gap = None if self.silent_since is None else round(time.time() - self.silent_since, 3)
                emit("audio", audible=True, gap=gap, at=round(time.time(), 3))
        else:
            self.quiet_blocks += 1
            if self.is_audible and self.quiet_blocks == SILENT_BLOCKS:
                self.is_audible = False
                self.silent_since = time.time() - SILENT_BLOCKS / 50
                emit("audio", audible=False, at=round(self.silent_since, 3))
        if key := self.keys.find(block):
            emit("key", key=key, at=round(time.time(), 3))

    def last(self, seconds):
        blocks = list(self.recent)[-max(1, round(seconds * 50)) :]
        return numpy.concatenate(blocks) if blocks else numpy.zeros(0, numpy.int16)

    def report(self, seconds=1.0):
        samples = self.last(seconds)
        return {
            **spectrum_of(samples), "level": level_of(samples), "seconds": round(len(samples) / RATE, 2),
            "heard": round(self.count / RATE, 2),
        }

    async def listen(self, hz, share=0.9, seconds=0.5, timeout=10.0, tolerance=5.0):
        """Waits until the last `seconds` are the tone, or silence if `hz` is 0."""
        async def wait():
            async with self.changed:
                while True:
                    await self.changed.wait()
                    heard = self.report(seconds)
                    if hz == 0:
                        if self.started is None or not self.is_audible and heard["level"] < SILENCE:
                            return heard
                    elif heard["seconds"] >= seconds and abs(heard["hz"] - hz) <= tolerance \
                            and heard["share"] >= share and heard["level"] > SILENCE:
                        return heard
        try:
            return await asyncio.wait_for(wait(), timeout)
        except TimeoutError:
            raise RuntimeError(f"{hz or 'no'} Hz was not heard in {timeout} s, but {self.report(seconds)}") from None

    def close(self):
        if self.file:
            self.file.close()
            self.file = None


class KeyFinder:
    """Finds the pairs of tones of telephone keys (ITU-T Q.23) that last for 60 ms."""

    def __init__(self):
        times = numpy.arange(2 * BLOCK) / RATE
        window = numpy.hanning(2 * BLOCK)
        self.waves = numpy.array([numpy.exp(-2j * numpy.pi * hz * times) * window for hz in ROWS + COLUMNS])
        self.scale = 2 / (window.sum() * 32768)
        self.before = numpy.zeros(BLOCK, numpy.int16)
        self.candidate = None
        self.count = 0
        self.pressed = None
        self.absent = 0

    def find(self, block):
        """The key that began, once."""
        samples = numpy.concatenate([self.before, block])
        self.before = block
        key = self._key_of(samples.astype(numpy.float64))
        if key != self.candidate:
            self.candidate, self.count = key, 0
        self.count += 1
        # A short drop-out does not make a second press of the same key.
        self.absent = 0 if key == self.pressed else self.absent + 1
        if self.absent == 3:
            self.pressed = None
        if key is None or self.count != 2 or key == self.pressed:
            return None
        self.pressed, self.absent = key, 0
        return key

    def _key_of(self, samples):
        power = numpy.mean((samples / 32768) ** 2)
        if power < 1e-5:
            return None
        amplitudes = numpy.abs(self.waves @ samples) * self.scale
        row, column = int(amplitudes[:4].argmax()), int(amplitudes[4:].argmax())
        low, high = amplitudes[row], amplitudes[4 + column]
        others = numpy.delete(amplitudes, [row, 4 + column]).max()
        is_pair = 0.25 < low / max(high, 1e-9) < 4 and others < 0.4 * min(low, high)
        return KEYS[row][column] if is_pair and (low**2 + high**2) / 2 > 0.75 * power else None

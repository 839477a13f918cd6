#!/usr/bin/env python3
"""Prints how like its original speech is after a call: wide-band PESQ (ITU-T P.862.2) of each NAME.heard against NAME.raw.

Both are mono, 16 bits, 48 kHz. PESQ works at 16 kHz and aligns in time by itself.
"""

import json
import pathlib
import sys

import numpy
from pesq import pesq


def at_16_khz(path):
    """Every third sample behind a low-pass of 7.6 kHz."""
    samples = numpy.fromfile(path, "<i2").astype(numpy.float64)
    taps = numpy.arange(-96, 97)
    low_pass = numpy.sinc(2 * 7600 / 48000 * taps) * numpy.blackman(len(taps))
    return numpy.convolve(samples, low_pass / low_pass.sum(), mode="same")[::3]


def main(folder):
    scores = {}
    for original in sorted(pathlib.Path(folder).glob("*.raw")):
        heard = original.with_suffix(".heard")
        scores[original.stem] = pesq(16000, at_16_khz(original), at_16_khz(heard), "wb")
    print(json.dumps({**scores, "mean": sum(scores.values()) / len(scores)}))


if __name__ == "__main__":
    main(sys.argv[1])

"""Recognises markers: audio whose samples say exactly what arrived."""

from dataclasses import dataclass, field


@dataclass
class Word:
    value: int
    start: int
    end: int

    @property
    def length(self):
        return self.end - self.start


@dataclass
class MarkerRecognizer:
    """Splits LINEAR16 samples into words (runs of one value that is not 0) and pauses (runs of 0).

    A lost, doubled or moved byte changes the value, the length or the place of a word. Positions count from `base`,
    per channel; only the first channel is looked at.
    """

    channels: int = 1
    base: int = 0
    rest: bytes = b""
    position: int = 0
    value: int = 0
    run_start: int = 0
    words: list = field(default_factory=list)

    def hear(self, data):
        """Yields `("word", Word)` when a word has ended, and at the end of the data `("run", value, length)`."""
        data = self.rest + data
        frame = 2 * self.channels
        usable = len(data) - len(data) % frame
        self.rest = data[usable:]
        for offset in range(0, usable, frame):
            sample = int.from_bytes(data[offset : offset + 2], "little", signed=True)
            if sample != self.value:
                if word := self.close_run():
                    yield ("word", word)
                self.value = sample
                self.run_start = self.position
            self.position += 1
        yield ("run", self.value, self.position - self.run_start)

    def close_run(self):
        """The word that ends here, if one does."""
        length = self.position - self.run_start
        if self.value == 0 or length == 0:
            return None
        word = Word(self.value, self.base + self.run_start, self.base + self.position)
        self.value = 0
        self.run_start = self.position
        self.words.append(word)
        return word

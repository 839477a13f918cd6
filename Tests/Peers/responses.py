"""The responses of one audio context, as the protocol wants them or as a violation wants them."""

import base64
import uuid

from markers import MarkerRecognizer
from speechly.slu.v1 import slu_pb2

# What a client must survive, by the rule that is broken.
VIOLATIONS = {
    "result-before-started": "a final word comes before `started`",
    "started-twice": "`started` comes again",
    "unknown-context": "a final word of a context that was never started",
    "context-not-uuid": "a final word of a context whose id is no UUID",
    "empty-response": "a response without content",
    "rtt-request": "a round trip request that was not asked for",
    "final-word-repeated": "a final word comes again, with other text",
    "final-word-tentative": "a tentative list repeats the index of a final word",
    "final-entity-repeated": "a final entity comes again, with another value",
    "final-entity-tentative": "a tentative list repeats the span of a final entity",
    "entity-inverted": "an entity ends before it starts",
    "second-intent": "a second final intent",
    "tentative-intent-late": "a tentative intent after the final one",
    "missing-intent": "`segment_end` without an intent",
    "empty-segment": "a segment with an intent and an end but no word",
    "event-after-segment-end": "a final word of a segment that has ended",
    "segment-end-twice": "`segment_end` comes again",
    "missing-segment-end": "`finished` while a segment has not ended",
    "event-after-finished": "a final word of a context that has finished",
    "finished-twice": "`finished` comes again",
    "finished-with-error": "`finished` with the error field that is not used any more",
    "gaps-in-segment-ids": "segment ids with gaps (allowed)",
    "unknown-fields": "fields that the definitions do not have (allowed)",
    "huge-times": "word times at the end of the range of 32 bits",
    "negative-times": "word times before the start of the audio",
    "negative-index": "words with negative indices",
}

HIGHEST = 2**31 - 1
# Field 1000, a string: any client must skip it.
UNKNOWN_FIELD = b"\xc2\x3e\x07unknown"


class Segment:
    def __init__(self, number):
        self.number = number
        self.count = 0


class Context:
    def __init__(self, stream, config, options, violations, script):
        self.stream = stream
        self.id = str(uuid.uuid4())
        self.rate = config.sample_rate_hertz
        self.violations = set(violations)
        self.word_format = script.get("wordFormat", "w{value}x{length}")
        self.pause = script.get("segmentPause", 8000)
        config_options = {option.key: list(option.value) for option in config.options}
        self.wants_tokens = {**config_options, **options}.get("resume_tokens") == ["yes"]
        token = options.get("resume_token", [""])[0]
        base = int.from_bytes(base64.b64decode(token), "little") if token else 0
        self.recognizer = MarkerRecognizer(channels=config.channels, base=base)
        self.segment = None
        self.next_segment = 3 if "gaps-in-segment-ids" in self.violations else 0

    def broken(self, rule):
        """Whether a rule is to be broken here; each that happens at one place is broken once."""
        if rule in self.violations:
            self.violations.discard(rule)
            return True
        return False

    async def send(self, segment=0, context=None, **content):
        response = slu_pb2.SLUResponse(audio_context=context or self.id, segment_id=segment, **content)
        if "unknown-fields" in self.violations:
            response = slu_pb2.SLUResponse.FromString(response.SerializeToString() + UNKNOWN_FIELD)
        await self.stream.send(response)

    def transcript(self, text, index, start, end):
        times = [1000 * sample // self.rate for sample in (start, end)]
        if "huge-times" in self.violations:
            times = [HIGHEST - 1, HIGHEST]
        if "negative-times" in self.violations:
            times = [-1000, -500]
        if "negative-index" in self.violations:
            index = -1 - index
        return slu_pb2.SLUTranscript(word=text, index=index, start_time=times[0], end_time=times[1])

    def extra(self, text="extra", index=0):
        return slu_pb2.SLUTranscript(word=text, index=index, start_time=0, end_time=10)

    async def start(self):
        if self.broken("result-before-started"):
            await self.send(transcript=self.extra("early"))
        await self.send(started=slu_pb2.SLUStarted())
        if self.broken("started-twice"):
            await self.send(started=slu_pb2.SLUStarted())
        if self.broken("unknown-context"):
            await self.send(context=str(uuid.uuid4()), transcript=self.extra("foreign"))
        if self.broken("context-not-uuid"):
            await self.send(context="nonsense", transcript=self.extra("foreign"))
        if self.broken("empty-response"):
            await self.send()
        if self.broken("rtt-request"):
            await self.send(rtt_request=slu_pb2.RoundTripMeasurementRequest(id=1))

    async def hear(self, audio):
        for event in self.recognizer.hear(audio):
            if event[0] == "word":
                await self.final_word(event[1])
            elif event[1] != 0:
                await self.tentative_word(event[1], event[2])
            elif self.segment and self.pause and event[2] >= self.pause:
                await self.end_segment()

    async def open_segment(self):
        if self.segment is None:
            self.segment = Segment(self.next_segment)
            self.next_segment += 2 if self.next_segment >= 3 else 1
        return self.segment

    async def tentative_word(self, value, length):
        segment = await self.open_segment()
        recognizer = self.recognizer
        text = self.word_format.format(value=value, length=length, place=recognizer.base + recognizer.run_start)
        word = self.transcript(text, segment.count, recognizer.run_start, recognizer.position)
        tentative = slu_pb2.SLUTentativeTranscript(tentative_transcript=text, tentative_words=[word])
        await self.send(segment.number, tentative_transcript=tentative)
        await self.send(segment.number, tentative_intent=slu_pb2.SLUIntent(intent="guess"))

    async def final_word(self, word):
        segment = await self.open_segment()
        text = self.word_format.format(value=word.value, length=word.length, place=word.start)
        base = self.recognizer.base
        final = self.transcript(text, segment.count, word.start - base, word.end - base)
        await self.send(segment.number, transcript=final)
        if self.broken("final-word-repeated"):
            await self.send(segment.number, transcript=self.extra("changed", segment.count))
        if self.broken("final-word-tentative"):
            words = [self.extra("changed", segment.count)]
            tentative = slu_pb2.SLUTentativeTranscript(tentative_transcript="changed", tentative_words=words)
            await self.send(segment.number, tentative_transcript=tentative)
        if segment.count == 0:
            await self.entities(segment, text)
        segment.count += 1
        await self.stream.reached("word")

    async def entities(self, segment, text):
        def entity(value, start=0, end=1):
            return slu_pb2.SLUEntity(entity="first", value=value, start_position=start, end_position=end)

        await self.send(segment.number, entity=entity(text))
        if self.broken("final-entity-repeated"):
            await self.send(segment.number, entity=entity("changed"))
        if self.broken("final-entity-tentative"):
            tentative = slu_pb2.SLUTentativeEntities(tentative_entities=[entity("changed")])
            await self.send(segment.number, tentative_entities=tentative)
        if self.broken("entity-inverted"):
            await self.send(segment.number, entity=entity("inverted", 1, 0))

    async def end_segment(self):
        segment, self.segment = self.segment, None
        if not self.broken("missing-intent"):
            await self.send(segment.number, intent=slu_pb2.SLUIntent(intent="say"))
        if self.broken("second-intent"):
            await self.send(segment.number, intent=slu_pb2.SLUIntent(intent="changed"))
        if self.broken("tentative-intent-late"):
            await self.send(segment.number, tentative_intent=slu_pb2.SLUIntent(intent="late"))
        end = slu_pb2.SLUSegmentEnd()
        if self.wants_tokens:
            place = self.recognizer.position
            end.next_sample = place
            end.resume_token = (self.recognizer.base + place).to_bytes(8, "little")
        await self.send(segment.number, segment_end=end)
        if self.broken("segment-end-twice"):
            await self.send(segment.number, segment_end=end)
        if self.broken("event-after-segment-end"):
            await self.send(segment.number, transcript=self.extra("late", segment.count))
        if self.broken("empty-segment"):
            empty = await self.open_segment()
            self.segment = None
            await self.send(empty.number, intent=slu_pb2.SLUIntent(intent="nothing"))
            await self.send(empty.number, segment_end=slu_pb2.SLUSegmentEnd())
        await self.stream.reached("segment-end")

    async def stop(self):
        if word := self.recognizer.close_run():
            await self.final_word(word)
        if self.segment and not self.broken("missing-segment-end"):
            await self.end_segment()
        finished = slu_pb2.SLUFinished()
        if self.broken("finished-with-error"):
            finished.error.code = "scripted"
            finished.error.message = "scripted"
        await self.send(finished=finished)
        if self.broken("finished-twice"):
            await self.send(finished=slu_pb2.SLUFinished())
        if self.broken("event-after-finished"):
            await self.send(transcript=self.extra("late"))

"""Tries everything of scripted_slu_server.py with a client in the same process; prints one line per check."""

import asyncio
import base64
import json
import random
import sys

import grpc
import peer_support
from responses import VIOLATIONS
from speechly.identity.v1 import identity_pb2, identity_pb2_grpc
from speechly.identity.v2 import identity_api_pb2, identity_api_pb2_grpc
from speechly.slu.v1 import slu_pb2, slu_pb2_grpc

APP = "11111111-2222-4333-8444-555555555555"
DEVICE = "99999999-2222-4333-8444-555555555555"


def samples(*runs):
    """LINEAR16 audio of runs (value, length)."""
    return b"".join(value.to_bytes(2, "little", signed=True) * length for value, length in runs)


class Client:
    def __init__(self, port):
        self.address = f"127.0.0.1:{port}"
        self.channel = grpc.aio.insecure_channel(self.address)
        self.timeout = 20
        self.token = None

    async def login(self, timeout=5):
        stub = identity_api_pb2_grpc.IdentityAPIStub(self.channel)
        scope = identity_api_pb2.ApplicationScope(app_id=APP)
        request = identity_api_pb2.LoginRequest(device_id=DEVICE, application=scope)
        self.token = (await stub.Login(request, timeout=timeout)).token
        return self.token

    def stream(self, token=None):
        metadata = (("authorization", f"Bearer {token or self.token}"),)
        return slu_pb2_grpc.SLUStub(self.channel).Stream(metadata=metadata, timeout=20)

    async def recognize(self, audio, chunk=3200, options=(), contexts=1):
        """All responses to contexts of audio, sent as the published clients do: stop and half-close at once."""
        options = [slu_pb2.SLUConfig.Option(key=key, value=[value]) for key, value in options]
        config = slu_pb2.SLUConfig(channels=1, sample_rate_hertz=16000, options=options)
        requests = [slu_pb2.SLURequest(config=config)]
        for _ in range(contexts):
            requests.append(slu_pb2.SLURequest(start=slu_pb2.SLUStart()))
            requests += [slu_pb2.SLURequest(audio=audio[i : i + chunk]) for i in range(0, len(audio), chunk)]
            requests.append(slu_pb2.SLURequest(stop=slu_pb2.SLUStop()))
        return await asyncio.to_thread(self.exchange, requests)

    def exchange(self, requests):
        """With the blocking client: the other one may report a failed write instead of the status of the call."""
        metadata = (("authorization", f"Bearer {self.token}"),)
        with grpc.insecure_channel(self.address) as channel:
            return list(slu_pb2_grpc.SLUStub(channel).Stream(iter(requests), metadata=metadata, timeout=self.timeout))


AUDIO = samples((0, 300), (7, 1600), (0, 100), (9, 4000), (0, 9000), (-3, 2000), (0, 50))
WORDS = ["w7x1600", "w9x4000", "w-3x2000"]


def words(responses):
    return [r.transcript.word for r in responses if r.HasField("transcript")]


def kinds(responses):
    return [r.WhichOneof("streaming_response") for r in responses]


class Checks:
    def __init__(self, server_class):
        self.server_class = server_class
        self.failed = 0

    async def run(self, name, script, body):
        server = self.server_class(script)
        port = await server.start()
        client = Client(port)
        try:
            await asyncio.wait_for(body(server, client), 30)
            print(f"ok      {name}", file=sys.stderr)
        except Exception as error:
            self.failed += 1
            print(f"FAILED  {name}: {error!r}", file=sys.stderr)
        await client.channel.close()
        await server.stop()
        await asyncio.sleep(0)

    async def fails(self, awaitable, *codes):
        try:
            await awaitable
        except grpc.RpcError as error:
            assert error.code().name in codes, f"{error.code()} instead of {codes}: {error.details()}"
            return error
        raise AssertionError(f"no error; expected {codes}")

    async def all(self):
        await self.run("recognises markers", {}, self.recognises)
        await self.run("counts every sample of any chunking", {}, self.any_chunking)
        await self.run("gives resume tokens to whom asks", {}, self.resume_tokens)
        await self.run("logs in with identity v1", {}, self.identity_v1)
        await self.run("refuses tokens of others", {}, self.foreign_token)
        await self.run("refuses expired tokens", {"logins": [{"token": "expired"}]}, self.expired_token)
        await self.run("gives garbled tokens", {"logins": [{"token": "garbled"}, {}]}, self.garbled_token)
        await self.run("never answers a login", {"logins": [{"do": "never"}]}, self.never)
        refusal = {"do": "status", "code": "PERMISSION_DENIED"}
        await self.run("refuses a login", {"logins": [refusal, {}]}, self.refused_login)
        rejection = {"streams": [{"reject": {"code": "PERMISSION_DENIED"}}]}
        await self.run("refuses the first stream only", rejection, self.first_stream_refused)
        pushback = {"streams": [{"reject": {"code": "UNAVAILABLE", "pushback": 1500}}]}
        await self.run("asks to wait", pushback, self.pushed_back)
        for manner in ("reset", "finish"):
            step = {"when": "word", "count": 2, "do": manner}
            await self.run(f"breaks the connection: {manner}", {"streams": [{"steps": [step]}]}, self.broken)
        step = {"when": "word", "count": 2, "do": "silence"}
        await self.run("falls silent", {"streams": [{"steps": [step]}]}, self.silent)
        step = {"when": "audio", "bytes": 6400, "do": "status", "code": "INTERNAL", "message": "because"}
        await self.run("ends the stream with a status", {"streams": [{"steps": [step]}]}, self.status)
        step = {"when": "start", "do": "stop-reading"}
        await self.run("stops reading", {"streams": [{"steps": [step]}]}, self.stops_reading)
        step = {"when": "stop", "do": "gate", "name": "g"}
        await self.run("waits at a gate", {"streams": [{"steps": [step]}]}, self.gate)
        message = {"audioContext": "$context", "segmentId": 4, "transcript": {"word": "raw", "index": 2}}
        step = {"when": "start", "do": "send", "messages": [message]}
        await self.run("sends raw messages", {"streams": [{"steps": [step]}]}, self.raw)
        for rule in ("audio", "start"):
            await self.run(f"refuses {rule} before config", {}, lambda s, c, r=rule: self.order(c, r))
        for name in VIOLATIONS:
            script = {"streams": [{"violations": [name]}]}
            await self.run(f"violates: {name}", script, lambda s, c, n=name: self.violation(c, n))

    async def recognises(self, server, client):
        await client.login()
        responses = await client.recognize(AUDIO, contexts=2)
        assert words(responses) == WORDS * 2, words(responses)
        by_context = {}
        for response in responses:
            by_context.setdefault(response.audio_context, []).append(response)
        assert len(by_context) == 2
        for messages in by_context.values():
            assert kinds(messages)[0] == "started" and kinds(messages)[-1] == "finished"
            assert [r.segment_id for r in messages if r.HasField("segment_end")] == [0, 1]
            assert kinds(messages).count("intent") == 2
        last = [r for r in responses if r.HasField("transcript")][-1].transcript
        assert (last.index, last.start_time, last.end_time) == (0, 937, 1062), last

    async def any_chunking(self, server, client):
        await client.login()
        generator = random.Random(1)
        for chunk in (1001, 640, 65536, 7):
            runs = [(generator.randint(1, 999) * (1 if index % 2 else 0), generator.randint(1, 400)) for index in range(40)]
            expected = [f"w{value}x{length}" for value, length in runs if value]
            responses = await client.recognize(samples(*runs), chunk=chunk)
            assert words(responses) == expected, (chunk, words(responses), expected)

    async def resume_tokens(self, server, client):
        await client.login()
        responses = await client.recognize(AUDIO, options=[("resume_tokens", "yes")])
        ends = [r.segment_end for r in responses if r.HasField("segment_end")]
        assert all(end.resume_token for end in ends) and ends[0].next_sample >= 6000 + 8000
        assert not any(r.segment_end.resume_token for r in await client.recognize(AUDIO) if r.HasField("segment_end"))

    async def identity_v1(self, server, client):
        stub = identity_pb2_grpc.IdentityStub(client.channel)
        client.token = (await stub.Login(identity_pb2.LoginRequest(device_id=DEVICE, app_id=APP))).token
        payload = client.token.split(".")[1]
        claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
        assert claims["appId"] == APP and claims["deviceId"] == DEVICE and len(payload) % 4 in (0, 2)
        assert words(await client.recognize(AUDIO)) == WORDS

    async def foreign_token(self, server, client):
        client.token = "a.b.c"
        await self.fails(client.recognize(AUDIO), "PERMISSION_DENIED")

    async def expired_token(self, server, client):
        await client.login()
        await self.fails(client.recognize(AUDIO), "PERMISSION_DENIED")

    async def garbled_token(self, server, client):
        assert await client.login() == "x"
        assert "." in await client.login()

    async def never(self, server, client):
        await self.fails(client.login(timeout=0.2), "DEADLINE_EXCEEDED")

    async def refused_login(self, server, client):
        await self.fails(client.login(), "PERMISSION_DENIED")
        await client.login()

    async def first_stream_refused(self, server, client):
        await client.login()
        await self.fails(client.recognize(AUDIO), "PERMISSION_DENIED")
        assert words(await client.recognize(AUDIO)) == WORDS

    async def pushed_back(self, server, client):
        await client.login()
        error = await self.fails(client.recognize(AUDIO), "UNAVAILABLE")
        assert ("grpc-retry-pushback-ms", "1500") in tuple(error.trailing_metadata()), error.trailing_metadata()

    async def broken(self, server, client):
        await client.login()
        await self.fails(client.recognize(AUDIO), "UNAVAILABLE", "INTERNAL", "CANCELLED")
        assert words(await client.recognize(AUDIO)) == WORDS

    async def silent(self, server, client):
        await client.login()
        client.timeout = 1
        await self.fails(client.recognize(AUDIO), "DEADLINE_EXCEEDED")

    async def status(self, server, client):
        await client.login()
        error = await self.fails(client.recognize(AUDIO), "INTERNAL")
        assert error.details() == "because"

    async def stops_reading(self, server, client):
        await client.login()
        call = client.stream()
        await call.write(slu_pb2.SLURequest(config=slu_pb2.SLUConfig(channels=1, sample_rate_hertz=16000)))
        await call.write(slu_pb2.SLURequest(start=slu_pb2.SLUStart()))
        written = 0
        try:
            while written < 500:
                await asyncio.wait_for(call.write(slu_pb2.SLURequest(audio=bytes(64000))), 1)
                written += 1
        except (TimeoutError, asyncio.TimeoutError):
            call.cancel()
            return
        raise AssertionError("32 MB were taken by a server that does not read")

    async def gate(self, server, client):
        await client.login()
        call = asyncio.create_task(client.recognize(AUDIO))
        await asyncio.sleep(0.3)
        assert not call.done()
        await server.command({"do": "open", "gate": "g"})
        assert words(await call) == WORDS

    async def raw(self, server, client):
        await client.login()
        responses = await client.recognize(AUDIO)
        assert words(responses) == ["raw", *WORDS]
        raw = next(r for r in responses if r.HasField("transcript"))
        assert (raw.segment_id, raw.transcript.index, raw.audio_context) == (4, 2, responses[0].audio_context)

    async def order(self, client, kind):
        await client.login()
        call = client.stream()
        request = slu_pb2.SLURequest(audio=b"\0\0") if kind == "audio" else slu_pb2.SLURequest(start=slu_pb2.SLUStart())
        await call.write(request)
        await self.fails(call.read(), "FAILED_PRECONDITION")

    async def violation(self, client, name):
        await client.login()
        broken = await client.recognize(AUDIO)
        usual = await client.recognize(AUDIO)
        assert words(usual) == WORDS, "the second stream is not affected"
        mask = lambda rs: [r.SerializeToString().replace(r.audio_context.encode(), b"") for r in rs]  # noqa: E731
        assert mask(broken) != mask(usual), "nothing was violated"


def main(server_class):
    sys.stdout = open("/dev/null", "w")
    checks = Checks(server_class)
    asyncio.run(checks.all())
    print(f"{checks.failed} failed", file=sys.stderr)
    return 1 if checks.failed else 0

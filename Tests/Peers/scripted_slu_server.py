#!/usr/bin/env python3
"""A server of the streaming speech protocol that does what a script says: an independent peer for client tests.

    scripted_slu_server.py [--port N] [--script JSON | --script @FILE | --script -] [--self-test]

Without a script it logs everybody in and recognises markers (see markers.py): a run of n samples of value v is the word
"w<v>x<n>". It prints one JSON object per event on stdout, takes JSON commands on stdin, and ends when stdin ends.
With "--script -" the first line of stdin is the script.

A script is an object:

    logins          what happens at the n-th login, the last also at all later ones:
                    {"do": "ok" | "never" | "status", "code": …, "message": …, "delay": ms,
                     "token": "good" | "wrong-device" | "wrong-app" | "garbled" | "empty" | "expired", "lifetime": seconds}
    streams         what happens in the n-th stream; later ones are served as usual:
                    {"reject": {"code": …, "message": …, "pushback": ms}, "steps": […], "violations": […],
                     "responseDelay": ms}
    anyToken        whether tokens of other servers are accepted (false)
    wordFormat      how a word is written ("w{value}x{length}"); {place} is its first sample
    segmentPause    how many zero samples end a segment (8000)

A step is an action with the moment when it is done, once: {"when": MOMENT, "count": n, "do": ACTION, …}
    moments         open, config, start, stop, half-close; audio (after `bytes` of audio); word (after the n-th final word);
                    segment-end, finished
    actions         status (code, message, pushback), reset, finish, silence (of the connection), stop-reading,
                    wait (milliseconds), gate (name: until the command {"do": "open", "gate": name}), send (messages in
                    the JSON form of SLUResponse; "$context" is the id of the context), mute (no more responses)
Commands: {"do": "open", "gate": name}, {"do": "reset" | "finish" | "silence"} for all connections.
Violations are listed in responses.py; each happens once, in the first context.
"""

import argparse
import asyncio
import base64
import json
import pathlib
import sys
import time

import peer_support
from peer_support import emit

peer_support.load_stubs()

import grpc  # noqa: E402
from google.protobuf import json_format  # noqa: E402
from speechly.identity.v1 import identity_pb2, identity_pb2_grpc  # noqa: E402
from speechly.identity.v2 import identity_api_pb2, identity_api_pb2_grpc  # noqa: E402
from speechly.slu.v1 import slu_pb2, slu_pb2_grpc  # noqa: E402

from responses import Context, VIOLATIONS  # noqa: E402


class Server:
    def __init__(self, script):
        self.script = script
        self.gates = peer_support.Gates()
        self.tokens = {}
        self.logins = 0
        self.streams = 0
        self.listener = None
        self.grpc = None

    async def start(self, port=0):
        self.grpc = grpc.aio.server(options=[("grpc.so_reuseport", 0)])
        identity_pb2_grpc.add_IdentityServicer_to_server(IdentityV1(self), self.grpc)
        identity_api_pb2_grpc.add_IdentityAPIServicer_to_server(IdentityV2(self), self.grpc)
        slu_pb2_grpc.add_SLUServicer_to_server(SLU(self), self.grpc)
        hidden_port = self.grpc.add_insecure_port("127.0.0.1:0")
        await self.grpc.start()
        self.listener = peer_support.BreakableListener(hidden_port)
        port = await self.listener.start(port)
        emit("listening", port=port)
        return port

    async def stop(self):
        self.listener.close()
        await self.grpc.stop(0)

    async def command(self, command):
        action = command.get("do")
        if action == "open":
            self.gates.event(command.get("gate")).set()
        elif action in ("reset", "finish", "silence"):
            for connection in list(self.listener.connections.values()):
                connection.break_(action)
        else:
            emit("bad-command", message=f"unknown command {action}")

    def next_login(self):
        self.logins += 1
        logins = self.script.get("logins") or [{}]
        return self.logins, logins[min(self.logins, len(logins)) - 1]

    async def login(self, context, version, claims):
        number, script = self.next_login()
        emit("login", login=number, version=version, **claims)
        await asyncio.sleep(script.get("delay", 0) / 1000)
        action = script.get("do", "ok")
        if action == "never":
            await asyncio.Event().wait()
        if action == "status":
            await abort(context, script)
        return self.make_token(script, claims)

    def make_token(self, script, claims):
        kind = script.get("token", "good")
        if kind == "garbled":
            return "x", 0
        if kind == "empty":
            return "", 0
        claims = {key: value for key, value in claims.items() if key in ("appId", "projectId", "deviceId")}
        if kind == "wrong-device":
            claims["deviceId"] = "00000000-0000-4000-8000-0000000000ff"
        if kind == "wrong-app":
            claims.pop("projectId", None)
            claims["appId"] = "00000000-0000-4000-8000-0000000000fe"
        expiry = int(time.time()) + (-60 if kind == "expired" else script.get("lifetime", 86400))
        token = encode_token({**claims, "scope": "slu wlu", "exp": expiry, "iss": "peer", "aud": "peer"})
        self.tokens[token] = expiry
        return token, expiry

    def token_error(self, context):
        header = dict(context.invocation_metadata() or ()).get("authorization", "")
        if not header.startswith("Bearer "):
            return "there is no token"
        if self.script.get("anyToken"):
            return None
        token = header.removeprefix("Bearer ")
        if token not in self.tokens:
            return "the token is not one of this server"
        return "the token has expired" if self.tokens[token] <= time.time() else None


def encode_token(claims):
    """A JSON web token that every published client can read: its payload's length is 0 or 2 modulo 4."""
    def part(value):
        return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()

    payload = part(claims)
    while len(payload) % 4 == 3:
        claims["pad"] = claims.get("pad", "") + "."
        payload = part(claims)
    return f"{part({'alg': 'HS256', 'typ': 'JWT'})}.{payload}.{base64.urlsafe_b64encode(b'signature').decode().rstrip('=')}"


async def abort(context, script):
    """Ends a call with the status of the script."""
    metadata = ()
    if "pushback" in script:
        metadata = (("grpc-retry-pushback-ms", str(script["pushback"])),)
    code = grpc.StatusCode[script.get("code", "INTERNAL")]
    await context.abort(code, script.get("message", "scripted"), metadata)


class IdentityV1(identity_pb2_grpc.IdentityServicer):
    def __init__(self, server):
        self.server = server

    async def Login(self, request, context):
        claims = {"appId": request.app_id, "deviceId": request.device_id}
        token, _ = await self.server.login(context, 1, claims)
        return identity_pb2.LoginResponse(token=token)


class IdentityV2(identity_api_pb2_grpc.IdentityAPIServicer):
    def __init__(self, server):
        self.server = server

    async def Login(self, request, context):
        claims = {"deviceId": request.device_id}
        if request.WhichOneof("scope") == "project":
            claims["projectId"] = request.project.project_id
        else:
            claims["appId"] = request.application.app_id
        token, expiry = await self.server.login(context, 2, claims)
        written = time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime(expiry))
        return identity_api_pb2.LoginResponse(
            token=token, valid_for_s=max(0, expiry - int(time.time())), expires_at_epoch=expiry, expires_at=written
        )


class SLU(slu_pb2_grpc.SLUServicer):
    def __init__(self, server):
        self.server = server

    async def Stream(self, iterator, context):
        self.server.streams += 1
        streams = self.server.script.get("streams", [])
        number = self.server.streams
        script = streams[number - 1] if number <= len(streams) else {}
        await Stream(self.server, number, script, context).run()


class Stream:
    """One call of SLU/Stream."""

    def __init__(self, server, number, script, context):
        self.server = server
        self.number = number
        self.script = script
        self.call = context
        self.steps = list(script.get("steps", []))
        self.violations = set(script.get("violations", []))
        if unknown := self.violations - set(VIOLATIONS):
            raise ValueError(f"unknown violations {sorted(unknown)}")
        self.counts = {}
        self.kinds = {}
        self.audio_bytes = 0
        self.is_muted = False
        self.reads = asyncio.Event()
        self.reads.set()
        self.config = None
        self.context = None
        self.context_count = 0

    async def run(self):
        status = "OK"
        emit("stream-opened", stream=self.number)
        try:
            await self.serve()
        except grpc.aio.AbortError:
            status = "ABORTED"
            raise
        except asyncio.CancelledError:
            status = "CANCELLED"
            raise
        except Exception as error:
            status = f"FAILED: {error!r}"
            raise
        finally:
            emit("stream-closed", stream=self.number, status=status, messages=self.kinds, audioBytes=self.audio_bytes)

    async def serve(self):
        if reject := self.script.get("reject"):
            await abort(self.call, reject)
        if message := self.server.token_error(self.call):
            await abort(self.call, {"code": "PERMISSION_DENIED", "message": message})
        await self.reached("open")
        while True:
            await self.reads.wait()
            request = await self.call.read()
            if request == grpc.aio.EOF:
                break
            await self.received(request)
        emit("half-closed", stream=self.number)
        await self.reached("half-close")

    async def received(self, request):
        kind = request.WhichOneof("streaming_request") or "empty"
        self.kinds[kind] = self.kinds.get(kind, 0) + 1
        fields = {"bytes": len(request.audio)} if kind == "audio" else {}
        if kind == "event":
            kind = "start" if request.event.event == slu_pb2.SLUEvent.START else "stop"
            fields["deprecated"] = True
        if kind == "config":
            fields["config"] = json_format.MessageToDict(request.config)
        if kind == "start":
            fields["options"] = {option.key: list(option.value) for option in request.start.options}
        emit("received", stream=self.number, kind=kind, **fields)
        await self.handle(kind, request)

    async def handle(self, kind, request):
        if (kind == "config") != (self.config is None):
            await self.refuse("config must be the first message, once")
        if kind == "config":
            self.config = request.config
            if self.config.channels < 1 or self.config.sample_rate_hertz < 1:
                await abort(self.call, {"code": "INVALID_ARGUMENT", "message": "channels and rate must be positive"})
            await self.reached("config")
        elif kind == "start":
            if self.context:
                await self.refuse("start during a context")
            self.context_count += 1
            options = {option.key: list(option.value) for option in request.start.options}
            violations = self.violations if self.context_count == 1 else set()
            self.context = Context(self, self.config, options, violations, self.server.script)
            await self.context.start()
            await self.reached("start")
        elif kind == "audio":
            if not self.context:
                await self.refuse("audio outside a context")
            self.audio_bytes += len(request.audio)
            await self.context.hear(request.audio)
            await self.reached("audio")
        elif kind == "stop":
            if not self.context:
                await self.refuse("stop outside a context")
            await self.reached("stop")
            context, self.context = self.context, None
            await context.stop()
            await self.reached("finished")

    async def refuse(self, message):
        await abort(self.call, {"code": "FAILED_PRECONDITION", "message": message})

    async def send(self, response):
        if delay := self.script.get("responseDelay"):
            await asyncio.sleep(delay / 1000)
        if not self.is_muted:
            await self.call.write(response)
            emit("sent", stream=self.number, kind=response.WhichOneof("streaming_response") or "empty")

    async def reached(self, moment):
        """Does the steps of the moment that are due."""
        self.counts[moment] = self.counts.get(moment, 0) + 1
        for step in list(self.steps):
            if step.get("when", "open") != moment or self.counts[moment] < step.get("count", 1):
                continue
            if moment == "audio" and self.audio_bytes < step.get("bytes", 0):
                continue
            self.steps.remove(step)
            emit("step", stream=self.number, when=moment, do=step["do"])
            await self.act(step)

    async def act(self, step):
        action = step["do"]
        if action == "status":
            await abort(self.call, step)
        elif action in ("reset", "finish", "silence"):
            self.server.listener.connection_of(self.call.peer()).break_(action)
        elif action == "stop-reading":
            self.reads.clear()
        elif action == "wait":
            await asyncio.sleep(step["milliseconds"] / 1000)
        elif action == "gate":
            await self.server.gates.wait(step["name"])
        elif action == "mute":
            self.is_muted = True
        elif action == "send":
            for message in step["messages"]:
                text = json.dumps(message).replace("$context", self.context.id if self.context else "")
                await self.send(json_format.Parse(text, slu_pb2.SLUResponse()))
        else:
            raise ValueError(f"unknown action {action}")


def read_script(text):
    if not text:
        return {}
    if text == "-":
        return json.loads(sys.stdin.readline())
    if text.startswith("@"):
        return json.loads(pathlib.Path(text[1:]).read_text())
    return json.loads(text)


async def serve(arguments):
    server = Server(read_script(arguments.script))
    await server.start(arguments.port)
    await peer_support.read_commands(server.command)
    await server.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--script", help="JSON text, @FILE, or - for the first line of stdin")
    parser.add_argument("--self-test", action="store_true", help="try everything with a client in the same process")
    arguments = parser.parse_args()
    if arguments.self_test:
        import self_test_slu_server

        sys.exit(self_test_slu_server.main(Server))
    asyncio.run(serve(arguments))


if __name__ == "__main__":
    main()

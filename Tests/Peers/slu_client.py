#!/usr/bin/env python3
"""An independent client for the server's gRPC services, on grpcio.

Plays the conformance list of the protocol, one case after the other, and prints one JSON object per case with what it
saw: status, trailing metadata, and every response as base64. It judges nothing; the test that runs it does.

usage: slu_client.py --proto proto --grpc HOST:PORT --http HOST:PORT [--token CASE=TOKEN ...] CASE ...
"""
import argparse
import base64
import datetime
import importlib
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

import grpc
from grpc_tools import protoc

DEVICE = "dddddddd-0000-4000-8000-00000000feed"
APP = "00000000-0000-4000-8000-000000000001"
SIBLING = "00000000-0000-4000-8000-000000000003"
FOREIGN = "00000000-0000-4000-8000-000000000004"
PROJECT = "00000000-0000-4000-8000-000000000002"
UNKNOWN = "00000000-0000-4000-8000-00000000dead"
DEADLINE = 60


def load_stubs(proto):
    folder = tempfile.mkdtemp(prefix="voice-stubs-")
    files = [
        "speechly/slu/v1/slu.proto",
        "speechly/identity/v1/identity.proto",
        "speechly/identity/v2/identity_api.proto",
    ]
    for name in files:
        status = protoc.main(
            ["protoc", f"-I{proto}", f"--python_out={folder}", f"--grpc_python_out={folder}", name])
        if status:
            sys.exit(f"protoc failed for {name}")
    sys.path.insert(0, folder)
    names = ["speechly.slu.v1.slu", "speechly.identity.v1.identity", "speechly.identity.v2.identity_api"]
    return [importlib.import_module(name + suffix) for name in names for suffix in ("_pb2", "_pb2_grpc")]


def word_audio(numbers, rate=16000, silence=0.1):
    """What the tests' engine hears as the words w<n>: 200 ms of the value 100 n, then silence."""
    data = b""
    for number in numbers:
        data += (number * 100).to_bytes(2, "little", signed=True) * (rate // 5)
        data += bytes(2 * int(rate * silence))
    return data


class Client:
    def __init__(self, arguments):
        self.arguments = arguments
        self.slu, self.slu_grpc, self.id1, self.id1_grpc, self.id2, self.id2_grpc = load_stubs(arguments.proto)
        self.channel = grpc.insecure_channel(arguments.grpc)
        self.tokens = dict(pair.split("=", 1) for pair in arguments.token)

    # Messages

    def config(self, channels=1, rate=16000, language="", options=()):
        Request, Config = self.slu.SLURequest, self.slu.SLUConfig
        return Request(config=Config(
            channels=channels, sample_rate_hertz=rate, language_code=language,
            options=[Config.Option(key=key, value=[value]) for key, value in options]))

    def start(self, app="", options=()):
        Start = self.slu.SLUStart
        return self.slu.SLURequest(start=Start(
            app_id=app, options=[Start.Option(key=key, value=[value]) for key, value in options]))

    def stop(self):
        return self.slu.SLURequest(stop=self.slu.SLUStop())

    def event(self, kind, app=""):
        return self.slu.SLURequest(event=self.slu.SLUEvent(event=kind, app_id=app))

    def audio(self, data, size=3200):
        return [self.slu.SLURequest(audio=data[i:i + size]) for i in range(0, len(data), size)]

    # Calls

    def login(self, app=APP):
        stub = self.id1_grpc.IdentityStub(self.channel)
        return stub.Login(self.id1.LoginRequest(device_id=DEVICE, app_id=app), timeout=DEADLINE).token

    def project_login(self):
        stub = self.id2_grpc.IdentityAPIStub(self.channel)
        scope = self.id2.ProjectScope(project_id=PROJECT)
        return stub.Login(self.id2.LoginRequest(device_id=DEVICE, project=scope), timeout=DEADLINE).token

    def stream(self, requests, token=None, channel=None, on_response=None, metadata=()):
        """Sends the requests, closes the sending side at once, reads to the end."""
        metadata = list(metadata)
        if token is None:
            token = self.login()
        if token:
            metadata.append(("authorization", "Bearer " + token))
        call = self.slu_grpc.SLUStub(channel or self.channel).Stream(
            iter(requests), metadata=metadata, timeout=DEADLINE)
        responses = []
        error = None
        try:
            for response in call:
                responses.append(response)
                if on_response:
                    on_response(response)
        except grpc.RpcError as caught:
            error = caught
        return self.report(call, error, responses)

    def report(self, call, error=None, responses=()):
        trailers = {key: value for key, value in (call.trailing_metadata() or ()) if isinstance(value, str)}
        return {
            "status": (error or call).code().name,
            "details": (error or call).details() or "",
            "failure": trailers.get("voice-failure-code", ""),
            "pushback": trailers.get("grpc-retry-pushback-ms", ""),
            "kinds": [response.WhichOneof("streaming_response") for response in responses],
            "words": [r.transcript.word for r in responses if r.WhichOneof("streaming_response") == "transcript"],
            "responses": [base64.b64encode(response.SerializeToString()).decode() for response in responses],
        }

    def unary(self, method, request):
        try:
            response, call = method.with_call(request, timeout=DEADLINE)
            return {**self.report(call), "token": response.token}, response
        except grpc.RpcError as error:
            return self.report(error, error), None

    # Cases: login

    def case_login_v1(self):
        stub = self.id1_grpc.IdentityStub(self.channel)
        return self.unary(stub.Login, self.id1.LoginRequest(device_id=DEVICE, app_id=APP))[0]

    def case_login_v1_wrong_id(self):
        stub = self.id1_grpc.IdentityStub(self.channel)
        return self.unary(stub.Login, self.id1.LoginRequest(device_id=DEVICE, app_id=UNKNOWN))[0]

    def login_v2(self, **scope):
        stub = self.id2_grpc.IdentityAPIStub(self.channel)
        report, response = self.unary(stub.Login, self.id2.LoginRequest(device_id=DEVICE, **scope))
        if response:
            # As the published Python example reads it.
            expiry = datetime.datetime.fromisoformat(response.expires_at)
            report["expiresAt"] = int(expiry.timestamp())
            report["expiresAtEpoch"] = response.expires_at_epoch
            report["validFor"] = response.valid_for_s
            report["hasZone"] = expiry.tzinfo is not None
        return report

    def case_login_v2_application(self):
        return self.login_v2(application=self.id2.ApplicationScope(app_id=APP))

    def case_login_v2_project(self):
        return self.login_v2(project=self.id2.ProjectScope(project_id=PROJECT))

    def case_login_v2_wrong_id(self):
        return self.login_v2(application=self.id2.ApplicationScope(app_id="kitchen"))

    def json_login(self, body):
        request = urllib.request.Request(
            f"http://{self.arguments.http}/login", data=json.dumps(body).encode(),
            headers={"Content-Type": "application/json", "Origin": "http://example.org"})
        try:
            with urllib.request.urlopen(request, timeout=DEADLINE) as response:
                return {"status": str(response.status), "token": json.load(response)["access_token"],
                        "origin": response.headers.get("access-control-allow-origin", "")}
        except urllib.error.HTTPError as error:
            return {"status": str(error.code), "details": json.load(error)["error"]}

    def case_login_json(self):
        return self.json_login({"appId": APP, "deviceId": DEVICE})

    def case_login_json_wrong_id(self):
        return self.json_login({"appId": UNKNOWN, "deviceId": DEVICE})

    # Cases: streams

    def case_start_and_stop(self):
        # The published clients override the authority, and one sends a metadata key that is a random UUID.
        channel = grpc.insecure_channel(
            self.arguments.grpc, options=(("grpc.default_authority", "api.speechly.com"),))
        return self.stream(
            [self.config(options=[("timezone", "Europe/Helsinki")]), self.start(), *self.audio(word_audio([1, 2])),
             self.stop()], channel=channel, metadata=[("6f9619ff-8b86-d011-b42d-00cf4fc964ff", "")])

    def case_events(self):
        empty = self.slu.SLURequest(event=self.slu.SLUEvent())
        return self.stream([self.config(), empty, *self.audio(word_audio([1, 2]), 1024),
                            self.event(self.slu.SLUEvent.STOP)])

    def case_two_contexts(self):
        """Waits for the end of the first context before it starts the second."""
        return self.interactive([
            [self.config(), self.start(), *self.audio(word_audio([1])), self.stop()],
            [self.start(), *self.audio(word_audio([2])), self.stop()],
        ])

    def interactive(self, rounds):
        requests = queue.Queue()
        rounds = list(rounds)

        def send_next():
            if rounds:
                for request in rounds.pop(0):
                    requests.put(request)
            else:
                requests.put(None)

        def on_response(response):
            if response.WhichOneof("streaming_response") == "finished":
                send_next()

        send_next()
        return self.stream(iter(requests.get, None), on_response=on_response)

    def case_start_before_results(self):
        requests = [self.config()]
        for number in (1, 2, 3):
            requests += [self.start(), *self.audio(word_audio([number] * 10)), self.stop()]
        return self.stream(requests)

    def case_half_close_after_stop(self):
        return self.stream([self.config(), self.start(), *self.audio(word_audio([1, 2, 3] * 5), 65536), self.stop()])

    def case_half_close_without_stop(self):
        return self.stream([self.config(), self.start(), *self.audio(word_audio([1]))])

    def case_audio_before_start(self):
        return self.stream([self.config(), *self.audio(word_audio([1]))])

    def case_stop_before_start(self):
        return self.stream([self.config(), self.stop()])

    def case_start_twice(self):
        return self.stream([self.config(), self.start(), self.start()])

    def case_config_twice(self):
        return self.stream([self.config(), self.config()])

    def case_missing_config(self):
        return self.stream([self.start()])

    def case_wrong_channels(self):
        return self.stream([self.config(channels=0)])

    def case_wrong_rate(self):
        return self.stream([self.config(rate=4000)])

    def chunk(self, size):
        return self.stream([self.config(), self.start(), self.slu.SLURequest(audio=bytes(size)), self.stop()])

    def case_chunk_below_limit(self):
        return self.chunk(999_999)

    def case_chunk_at_limit(self):
        return self.chunk(1_000_000)

    def case_chunk_above_limit(self):
        return self.chunk(1_000_001)

    def case_chunk_far_above_limit(self):
        return self.chunk(5_000_000)

    def case_five_minutes(self):
        audio = word_audio([1, 2]) + bytes(2 * 16000 * 300 - len(word_audio([1, 2])))
        return self.stream([self.config(), self.start(), *self.audio(audio, 65536), self.stop()])

    def case_five_minutes_and_a_second(self):
        audio = word_audio([1, 2]) + bytes(2 * 16000 * 301 - len(word_audio([1, 2])))
        return self.stream([self.config(), self.start(), *self.audio(audio, 65536), self.stop()])

    def case_silence(self):
        return self.stream([self.config(), self.start(), *self.audio(bytes(64000)), self.stop()])

    def case_rate_8000(self):
        return self.stream([self.config(rate=8000), self.start(), *self.audio(word_audio([3], 8000)), self.stop()])

    def case_empty_language(self):
        return self.stream([self.config(language=""), self.start(), *self.audio(word_audio([1])), self.stop()])

    def case_right_language(self):
        return self.stream([self.config(language="en-US"), self.start(), *self.audio(word_audio([1])), self.stop()])

    def case_wrong_language(self):
        return self.stream([self.config(language="fi-FI"), self.start()])

    # Cases: tokens

    def case_project_app(self):
        return self.stream([self.config(), self.start(SIBLING), *self.audio(word_audio([1])), self.stop(),
                            self.event(self.slu.SLUEvent.START, APP), *self.audio(word_audio([2])),
                            self.event(self.slu.SLUEvent.STOP)], token=self.project_login())

    def case_project_foreign_app(self):
        return self.stream([self.config(), self.start(FOREIGN)], token=self.project_login())

    def case_project_without_app(self):
        return self.stream([self.config(), self.start()], token=self.project_login())

    def case_expired_token(self):
        return self.stream([self.config()], token=self.tokens["expired"])

    def case_foreign_token(self):
        return self.stream([self.config()], token=self.tokens["foreign"])

    def case_garbled_token(self):
        return self.stream([self.config()], token="a.b.c")

    def case_no_token(self):
        return self.stream([self.config()], token="")

    # Cases: round trips

    def case_rtt_default(self):
        return self.stream([self.config(), self.start(), *self.audio(word_audio([1])), self.stop()])

    def case_rtt_option(self):
        requests = queue.Queue()
        for request in [self.config(options=[("rtt", "yes")]), self.start()]:
            requests.put(request)

        def on_response(response):
            if response.WhichOneof("streaming_response") == "rtt_request":
                answer = self.slu.RoundTripMeasurementResponse(id=response.rtt_request.id)
                requests.put(self.slu.SLURequest(rtt_response=answer))
                for request in [*self.audio(word_audio([1])), self.stop(), None]:
                    requests.put(request)

        return self.stream(iter(requests.get, None), on_response=on_response)

    # Cases: broken connections. The server has one decoder for these.

    def case_disappear(self):
        """A client is killed in the middle of a context; the next one gets its decoder."""
        arguments = self.arguments
        victim = subprocess.Popen(
            [sys.executable, __file__, "--proto", arguments.proto, "--grpc", arguments.grpc, "--http", arguments.http,
             "hold"], stdout=subprocess.PIPE, text=True)
        line = json.loads(victim.stdout.readline())
        victim.send_signal(signal.SIGKILL)
        victim.wait()
        began = time.monotonic()
        report = self.stream([self.config(), self.start(), *self.audio(word_audio([4])), self.stop()])
        return {**report, "held": line["held"], "waited": time.monotonic() - began}

    def case_hold(self):
        def on_response(response):
            print(json.dumps({"held": response.WhichOneof("streaming_response")}), flush=True)

        return self.stream(self.endless(), on_response=on_response)

    def endless(self):
        yield self.config()
        yield self.start()
        while True:
            time.sleep(0.05)
            yield self.slu.SLURequest(audio=bytes(1600))

    def case_shutdown(self):
        """Goes on in a context until the server ends it; the test stops the server when it reads the first line."""
        def on_response(response):
            if response.WhichOneof("streaming_response") == "started":
                print(json.dumps({"case": "shutdown", "event": "started"}), flush=True)

        return self.stream(self.endless(), on_response=on_response)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--proto", required=True)
    parser.add_argument("--grpc", required=True)
    parser.add_argument("--http", required=True)
    parser.add_argument("--token", action="append", default=[])
    parser.add_argument("case", nargs="+")
    arguments = parser.parse_args()
    client = Client(arguments)
    for name in arguments.case:
        result = getattr(client, "case_" + name.replace("-", "_"))()
        print(json.dumps({"case": name, **result}), flush=True)
    sys.stdout.flush()
    # Channels with streams that were cut may hold the interpreter back.
    os._exit(0)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""An independent client for WLU, the SAL compiler, ConfigAPI and BatchAPI, on grpcio.

Plays named cases, one after the other, and prints one JSON object per case with what it saw. It judges nothing; the test
that runs it does.

usage: understanding_client.py --grpc HOST:PORT --key KEY CASE ...
"""
import argparse
import importlib
import io
import tarfile
import time

import grpc

from peer_support import emit, load_stubs

DEVICE = "dddddddd-0000-4000-8000-00000000feed"
APP = "00000000-0000-4000-8000-000000000001"
DEADLINE = 60

GOOD = """lang: en-US
imports:
  - {name: room, source: rooms.csv, field: 1}
entities:
  - {name: day, type: date}
templates: |
  *clean clean the $room(room) [$SPEECHLY.DATE | tomorrow](day)
  *stop stop it
"""
BAD = """lang: en-US
templates: |
  *clean clean the $romm(room)
  *stop [stop
"""


def archive(**files):
    """A tar archive as Python's own library writes it."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for name, text in files.items():
            entry = tarfile.TarInfo(name.replace("__", "."))
            entry.size = len(text.encode())
            tar.addfile(entry, io.BytesIO(text.encode()))
    return buffer.getvalue()


def word_audio(numbers, rate=16000):
    """What the tests' engine hears as the words w<n>: 200 ms of the value 100 n, then 100 ms of silence."""
    data = b""
    for number in numbers:
        data += (number * 100).to_bytes(2, "little", signed=True) * (rate // 5) + bytes(2 * (rate // 10))
    return data


class Client:
    def __init__(self, arguments):
        load_stubs()
        load = importlib.import_module
        self.identity = load("speechly.identity.v1.identity_pb2")
        self.slu = load("speechly.slu.v1.slu_pb2")
        self.wlu = load("speechly.slu.v1.wlu_pb2")
        self.batch = load("speechly.slu.v1.batch_pb2")
        self.batch_api = load("speechly.slu.v1.batch_api_pb2")
        self.sal = load("speechly.sal.v1.compiler_pb2")
        self.config = load("speechly.config.v1.config_api_pb2")
        self.channel = grpc.insecure_channel(arguments.grpc)
        stub = lambda module, name: getattr(load(module + "_pb2_grpc"), name + "Stub")(self.channel)
        self.identity_stub = stub("speechly.identity.v1.identity", "Identity")
        self.slu_stub = stub("speechly.slu.v1.slu", "SLU")
        self.wlu_stub = stub("speechly.slu.v1.wlu", "WLU")
        self.batch_stub = stub("speechly.slu.v1.batch_api", "BatchAPI")
        self.sal_stub = stub("speechly.sal.v1.compiler", "Compiler")
        self.config_stub = stub("speechly.config.v1.config_api", "ConfigAPI")
        self.key = self.bearer(arguments.key)

    @staticmethod
    def bearer(token):
        return {"metadata": [("authorization", "Bearer " + token)], "timeout": DEADLINE}

    def login(self):
        request = self.identity.LoginRequest(device_id=DEVICE, app_id=APP)
        return self.bearer(self.identity_stub.Login(request, timeout=DEADLINE).token)

    def deploy(self, data, options=None):
        Request = self.config.UploadTrainingDataRequest
        pieces = [data[i:i + 1000] for i in range(0, len(data), 1000)]
        requests = (Request(app_id=APP, content_type=Request.CONTENT_TYPE_TAR, data_chunk=piece) for piece in pieces)
        self.config_stub.UploadTrainingData(requests, **(options or self.key))

    def app(self):
        return self.config_stub.GetApp(self.config.GetAppRequest(app_id=APP), **self.key).app

    def status(self):
        return self.config.App.Status.Name(self.app().status)

    # Cases

    def case_deploy_good(self):
        self.deploy(archive(app__yaml=GOOD, rooms__csv="kitchen\nhall\n"))
        app = self.app()
        return {"status": self.status(), "recent": abs(app.deployed_at_time.seconds - time.time()) < 600}

    def case_deploy_bad(self):
        try:
            self.deploy(archive(app__yaml=BAD))
        finally:
            emit("note", status=self.status(), error=self.app().error_msg)

    def case_deploy_cut_off(self):
        self.deploy(archive(app__yaml=GOOD, rooms__csv="kitchen\n")[:700])

    def case_deploy_wrong_key(self):
        self.deploy(archive(app__yaml=GOOD), self.bearer("a-key-of-nobody-at-all"))

    def case_text(self):
        request = self.wlu.WLURequest(language_code="en-US", text="Clean the kitchen tomorrow")
        request.reference_time.seconds = 1_775_034_000
        segments = self.wlu_stub.Text(request, **self.login()).segments
        return {
            "intents": [segment.intent.intent for segment in segments],
            "annotated": [segment.annotated_text for segment in segments],
            "entities": [
                f"{entity.entity}={entity.value}@{entity.start_position}-{entity.end_position}"
                for segment in segments for entity in segment.entities],
        }

    def case_texts(self):
        request = self.wlu.TextsRequest(
            app_id=APP, requests=[self.wlu.WLURequest(text=text) for text in ("stop it", "sing")])
        responses = self.wlu_stub.Texts(request, **self.key).responses
        return {"intents": [segment.intent.intent for response in responses for segment in response.segments]}

    def case_validate(self):
        Source = self.sal.AppSource
        data = archive(app__yaml=BAD)
        requests = (Source(app_id=APP, content_type=Source.CONTENT_TYPE_TAR, data_chunk=data[i:i + 100])
                    for i in range(0, len(data), 100))
        messages = self.sal_stub.Validate(requests, **self.key).messages
        level = self.sal.LineReference.Level.Name
        return {"lines": [f"{m.file}:{m.line}:{m.column} {level(m.level)}" for m in messages]}

    def case_compile(self):
        Source, Request = self.sal.AppSource, self.sal.CompileRequest
        source = Source(app_id=APP, content_type=Source.CONTENT_TYPE_YAML, data_chunk=b'templates: "*greet hello [bob | ann](name)"\n')
        compiled = [
            list(self.sal_stub.Compile(
                iter([Request(app_source=source, batch_size=20, random_seed=3)]), **self.key).templates)
            for _ in range(2)]
        return {"same": compiled[0] == compiled[1], "templates": sorted(set(compiled[0]))}

    def case_download(self):
        data, kinds = b"", set()
        for message in self.config_stub.DownloadCurrentTrainingData(
                self.config.DownloadCurrentTrainingDataRequest(app_id=APP), **self.key):
            data += message.data_chunk
            kinds.add(message.content_type)
        with tarfile.open(fileobj=io.BytesIO(data)) as tar:
            return {"names": sorted(tar.getnames()), "same": tar.extractfile("app.yaml").read().decode() == GOOD}

    def case_swap_in_stream(self):
        """A context begins, a configuration is deployed, and the context goes on."""
        Request = self.slu.SLURequest
        audio = lambda numbers: Request(audio=word_audio(numbers))

        def requests():
            yield Request(config=self.slu.SLUConfig(channels=1, sample_rate_hertz=16000))
            yield Request(start=self.slu.SLUStart())
            yield audio([1, 2])
            self.deploy(archive(app__yaml='templates: "*other other words"\n'))
            yield audio([3])
            yield Request(stop=self.slu.SLUStop())

        kinds, words = [], []
        for response in self.slu_stub.Stream(requests(), **self.login()):
            kind = response.WhichOneof("streaming_response")
            kinds.append(kind)
            if kind == "transcript":
                words.append(response.transcript.word)
        return {"words": words, "ends": kinds[-1], "status": self.status()}

    def case_batch(self):
        Request, Config = self.batch_api.ProcessAudioRequest, self.batch.AudioConfiguration
        config = Config(encoding=Config.ENCODING_LINEAR16, channels=1, sample_rate_hertz=16000)
        data = word_audio([5, 6])
        requests = [Request(app_id=APP, config=config, reference="peer")]
        requests += [Request(audio=data[i:i + 65536]) for i in range(0, len(data), 65536)]
        operation = self.batch_stub.ProcessAudio(iter(requests), **self.key).operation
        deadline = time.monotonic() + DEADLINE
        query = self.batch_api.QueryStatusRequest(reference="peer")
        while operation.status < self.batch.Operation.STATUS_DONE and time.monotonic() < deadline:
            operation = self.batch_stub.QueryStatus(query, **self.key).operation
        return {
            "status": self.batch.Operation.Status.Name(operation.status),
            "words": [f"{word.word}@{word.start_time}-{word.end_time}" for word in operation.transcripts],
        }

    def case_batch_uri(self):
        self.batch_stub.ProcessAudio(iter([self.batch_api.ProcessAudioRequest(app_id=APP, uri="https://x")]), **self.key)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--grpc", required=True)
    parser.add_argument("--key", required=True)
    parser.add_argument("cases", nargs="+")
    arguments = parser.parse_args()
    client = Client(arguments)
    for case in arguments.cases:
        try:
            emit("case", case=case, **(getattr(client, "case_" + case.replace("-", "_"))() or {}))
        except grpc.RpcError as error:
            trailing = {key: value for key, value in error.trailing_metadata() or ()}
            emit("case", case=case, refused=error.code().name, failure=trailing.get("voice-failure-code"),
                 details=error.details())


if __name__ == "__main__":
    main()

"""What every test peer needs: generated stubs, one JSON line per event, commands on stdin, and breakable connections."""

import asyncio
import contextlib
import json
import os
import pathlib
import socket
import struct
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Where stubs are kept while the process runs; removed when it ends.
_stubs = None


def load_stubs():
    """Puts the stubs of proto/ on the module path: those of VOICE_PEERS_STUBS, or new ones in a temporary folder."""
    global _stubs
    folder = os.environ.get("VOICE_PEERS_STUBS")
    if not folder:
        _stubs = tempfile.TemporaryDirectory(prefix="voice-peer-stubs-")
        folder = _stubs.name
        generate_stubs(folder)
    sys.path.insert(0, folder)


def generate_stubs(folder):
    import importlib.resources

    from grpc_tools import protoc

    proto = ROOT / "proto"
    files = sorted(str(path) for path in proto.rglob("*.proto"))
    well_known = str(importlib.resources.files("grpc_tools") / "_proto")
    arguments = [f"--proto_path={proto}", f"--proto_path={well_known}"]
    if protoc.main(["protoc", *arguments, f"--python_out={folder}", f"--grpc_python_out={folder}", *files]) != 0:
        raise SystemExit("protoc failed")


def emit(event, **fields):
    """Prints one event; the reader may be gone, which ends the process."""
    try:
        sys.stdout.write(json.dumps({"event": event, **fields}) + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        os._exit(0)


class Gates:
    """Named places where a script waits until it is told to go on."""

    def __init__(self):
        self.events = {}

    def event(self, name):
        return self.events.setdefault(name, asyncio.Event())

    async def wait(self, name):
        emit("waiting", gate=name)
        await self.event(name).wait()


async def read_commands(handle):
    """Calls `handle` with every JSON object that comes on stdin; returns at its end."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        if line.strip():
            try:
                command = json.loads(line)
            except ValueError as error:
                emit("bad-command", message=str(error))
                continue
            await handle(command)


class BreakableListener:
    """Forwards TCP connections to a port and breaks them as told; a server library does not let its sockets be broken."""

    def __init__(self, target_port):
        self.target_port = target_port
        self.connections = {}
        self.server = None
        self.count = 0

    async def start(self, port=0):
        self.server = await asyncio.start_server(self._accepted, "127.0.0.1", port)
        return self.server.sockets[0].getsockname()[1]

    async def _accepted(self, client_reader, client_writer):
        self.count += 1
        number = self.count
        try:
            target_reader, target_writer = await asyncio.open_connection("127.0.0.1", self.target_port)
        except OSError:
            client_writer.transport.abort()
            return
        key = target_writer.get_extra_info("sockname")[1]
        connection = Connection(number, client_writer, target_writer)
        self.connections[key] = connection
        emit("connection-opened", connection=number)
        await asyncio.gather(
            connection.pump(client_reader, target_writer), connection.pump(target_reader, client_writer)
        )
        if not connection.is_silent:
            for writer in (client_writer, target_writer):
                with contextlib.suppress(OSError, RuntimeError):
                    writer.close()
            self.connections.pop(key, None)
            emit("connection-closed", connection=number)

    def connection_of(self, peer):
        """The connection behind a peer name of gRPC, such as `ipv4:127.0.0.1:54321`."""
        return self.connections.get(int(peer.rsplit(":", 1)[1]))

    def close(self):
        self.server.close()
        for connection in list(self.connections.values()):
            connection.abort()


class Connection:
    def __init__(self, number, client, target):
        self.number = number
        self.client = client
        self.target = target
        self.is_silent = False
        self.forever = asyncio.Event()

    async def pump(self, reader, writer):
        try:
            while data := await reader.read(65536):
                if self.is_silent:
                    await self.forever.wait()
                writer.write(data)
                await writer.drain()
            if self.is_silent:
                await self.forever.wait()
            if writer.can_write_eof():
                writer.write_eof()
        except (OSError, RuntimeError):
            if self.is_silent:
                await self.forever.wait()
            else:
                self.break_("reset")

    def abort(self):
        """Lets the pumps end whatever happened before."""
        self.is_silent = False
        self.forever.set()
        for writer in (self.client, self.target):
            writer.transport.abort()

    def break_(self, manner):
        """reset: RST to both; finish: FIN to both; silence: the sockets stay, nothing passes any more."""
        emit("connection-broken", connection=self.number, manner=manner)
        if manner == "silence":
            self.is_silent = True
            return
        for writer in (self.client, self.target):
            raw = writer.get_extra_info("socket")
            with contextlib.suppress(OSError):
                if manner == "reset" and raw is not None:
                    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            with contextlib.suppress(OSError, RuntimeError):
                writer.transport.abort() if manner == "reset" else writer.close()

"""What the media peers have in common: their options, their commands, and children that never outlive them."""

import argparse
import asyncio
import contextlib
import ctypes
import fcntl
import os
import pathlib
import signal
import socket
import struct
import subprocess
import sys
import tempfile

from peer_support import emit, read_commands
from rtc_hearing import Hearing

CODECS = ("opus", "PCMU", "PCMA")
SIOCGIFADDR = 0x8915


def media_options(description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--tone", type=float, default=440, help="Hertz of the tone that is sent; 0 sends silence")
    parser.add_argument("--play", help="an audio file that is played once when the connection is there")
    parser.add_argument("--record", help="a WAV file for what is heard (48 kHz, mono)")
    parser.add_argument("--codecs", default=",".join(CODECS), help="what is offered and accepted, preferred first")
    parser.add_argument("--report", type=float, default=1, help="seconds between reports; 0 reports only when asked")
    parser.add_argument(
        "--ice-server", action="append", default=[], metavar="URL[|USER|PASSWORD]",
        help="stun:HOST:PORT, turn:HOST:PORT?transport=udp or tcp, turns:HOST:PORT")
    parser.add_argument("--relay-only", action="store_true", help="uses relayed candidates alone")
    parser.add_argument("--namespace", help="runs in this network namespace (ip netns)")
    return parser


def codec_names(text):
    names = [name for name in text.split(",") if name]
    for name in names:
        if name.lower() not in [codec.lower() for codec in CODECS]:
            raise SystemExit(f"unknown codec {name}; there are {', '.join(CODECS)}")
    return names


def ice_servers(texts):
    for text in texts:
        url, *rest = text.split("|")
        yield {"urls": url, **dict(zip(("username", "credential"), rest))}


def enter_namespace(name):
    """Moves this process, before it has threads or sockets, into a network namespace."""
    if not name:
        return
    libc = ctypes.CDLL(None, use_errno=True)
    try:
        with open(f"/var/run/netns/{name}") as file:
            if libc.setns(file.fileno(), 0x40000000) != 0:
                raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    except OSError as error:
        raise SystemExit(f"the network namespace {name} cannot be entered: {error}") from None


def local_addresses():
    """The IPv4 addresses of the interfaces that are up, without loopback."""
    found = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        for _, name in socket.if_nameindex():
            request = struct.pack("256s", name.encode()[:15])
            with contextlib.suppress(OSError):
                address = socket.inet_ntoa(fcntl.ioctl(probe, SIOCGIFADDR, request)[20:24])
                if not address.startswith("127."):
                    found.append(address)
    return found


class Guard:
    """A shell that runs a script when this process has ended, however it ended, or when it is told to.

    It notices by the end of a pipe, from which the script may read lines before.
    """

    def __init__(self, script, *arguments, reads=""):
        read, self.pipe = os.pipe()
        self.process = subprocess.Popen(
            ["/bin/sh", "-c", f'trap "" INT TERM HUP; {reads} read end; {script}', "guard", *arguments], stdin=read,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        os.close(read)

    def tell(self, line):
        os.write(self.pipe, f"{line}\n".encode())

    def end(self):
        if self.pipe is not None:
            os.close(self.pipe)
            self.pipe = None
            self.process.wait()


class Child:
    """A program in a session and with a folder of its own; both go when this process ends, also if it is killed."""

    def __init__(self, prefix):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix=prefix))
        self.process = None
        # What is killed may still write for a moment.
        script = '[ -n "$group" ] && kill -s KILL -- "-$group"; ' \
            'n=0; while ! rm -rf -- "$1" && [ $n -lt 50 ]; do n=$((n + 1)); sleep 0.1; done'
        self.guard = Guard(script, str(self.folder), reads="read group;")

    def start(self, command, **options):
        self.process = subprocess.Popen(command, start_new_session=True, **options)
        self.guard.tell(self.process.pid)
        return self.process

    def signal(self, number):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)

    def end(self):
        """Kills the whole group and waits until its folder is gone."""
        if self.process:
            self.signal(signal.SIGKILL)
            self.process.wait()
        self.guard.end()


class MediaPeer:
    """Reads commands, which run one after the other but for those that only listen, and prints what comes of them."""

    listening = ("listen", "report")

    def __init__(self, options):
        self.options = options
        self.hearing = Hearing(options.record)
        self.tasks = set()
        self.turn = asyncio.Lock()

    def spawn(self, work):
        task = asyncio.create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return task

    async def serve(self):
        self.spawn(self.hearing.fill_gaps())
        if self.options.report > 0:
            self.spawn(self._report_regularly())
        await read_commands(self._handle)

    async def _handle(self, command):
        name = command.get("do") if isinstance(command, dict) else None
        handler = getattr(self, f"do_{name}", None) if isinstance(name, str) else None
        if handler is None:
            emit("failed", do=name, message=f"there is no command {name!r}", **echo(command))
        elif name in self.listening:
            self.spawn(self._run(name, handler, command))
        else:
            # Not awaited: what listens must be able to come in between; the lock is fair, so the order is kept.
            self.spawn(self._run_in_turn(name, handler, command))

    async def _run_in_turn(self, name, handler, command):
        async with self.turn:
            await self._run(name, handler, command)

    async def _run(self, name, handler, command):
        fields = {key: value for key, value in command.items() if key not in ("do", "id")}
        try:
            event, result = await handler(**fields)
        except Exception as error:
            emit("failed", do=name, message=f"{type(error).__name__}: {error}", **echo(command))
        else:
            emit(event, **result, **echo(command))
            if name == "quit":
                os._exit(0)

    async def do_listen(self, hz, **settings):
        return "heard", {"wanted": hz, **await self.hearing.listen(hz, **settings)}

    async def do_report(self, seconds=1.0):
        return "report", {**self.hearing.report(seconds), **await self.statistics()}

    async def do_quit(self):
        await self.finish()
        self.hearing.close()
        return "ended", {}

    async def _report_regularly(self):
        while True:
            await asyncio.sleep(self.options.report)
            with contextlib.suppress(Exception):
                emit("report", **self.hearing.report(), **await self.statistics())


def echo(command):
    return {"id": command["id"]} if isinstance(command, dict) and "id" in command else {}


def run(peer_type, options):
    """Runs a peer until its input ends."""
    async def main():
        peer = peer_type(options)
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        try:
            await peer.start()
        except Exception as error:
            emit("failed", do="start", message=f"{type(error).__name__}: {error}")
            await peer.finish()
            os._exit(1)
        try:
            await peer.serve()
        finally:
            await peer.finish()
            peer.hearing.close()
        # The libraries leave threads and tasks behind, which there is nothing to wait for.
        sys.stdout.flush()
        os._exit(0)

    asyncio.run(main())

"""A TURN server (coturn) on an address of this machine and free ports; README.md says how it is driven.

It ends with its input, and also if this process is killed.
"""

import argparse
import asyncio
import os
import random
import signal
import socket
import struct
import subprocess
import sys

from peer_support import emit, read_commands
from rtc_support import Child, enter_namespace

BINDING_REQUEST = struct.pack("!HHI", 0x0001, 0, 0x2112A442)


def free_port(address):
    """A port that is free for UDP and for TCP; outside the range of those that sockets get by themselves."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    for port in random.sample(range(20_000, 32_000), 50):
        try:
            for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM):
                with socket.socket(family, kind) as probe:
                    probe.bind((address, port))
            return port
        except OSError as error:
            last = error
    raise RuntimeError(f"no port of {address} is free: {last}")


def answers(address, port):
    """Asks for a binding over UDP (RFC 8489)."""
    with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.settimeout(0.1)
        try:
            probe.connect((address, port))
            probe.send(BINDING_REQUEST + os.urandom(12))
            return probe.recv(2048)[:2] == b"\x01\x01"
        except OSError:
            return False


def make_certificate(folder, address):
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
         "-subj", "/CN=localhost", "-addext", f"subjectAltName=IP:{address},DNS:localhost",
         "-keyout", str(key), "-out", str(certificate)],
        check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return key, certificate


class TurnServer:
    def __init__(self, options):
        self.options = options
        self.child = Child("voice-peer-turn-")

    async def start(self):
        options = self.options
        port = options.port or free_port(options.address)
        command = [
            "turnserver", "-n", "--listening-ip", options.address, "--relay-ip", options.address,
            "--listening-port", str(port), "--lt-cred-mech", "--user", f"{options.user}:{options.password}",
            "--realm", options.realm, "--no-cli", "--no-dtls", "--no-rfc5780", "--no-software-attribute",
            "--allow-loopback-peers", "--relay-threads", "1", "--no-multicast-peers", "--log-file", "stdout",
            "--simple-log", "--verbose", "--pidfile", str(self.child.folder / "pid"),
            "--userdb", str(self.child.folder / "users"),
            "--min-port", "32000", "--max-port", "32767",
        ]
        ready = {
            "address": options.address, "port": port, "user": options.user, "password": options.password,
            "realm": options.realm}
        if options.stale_nonce:
            command += ["--stale-nonce", str(options.stale_nonce)]
        if options.lifetime:
            command += ["--max-allocate-lifetime", str(options.lifetime)]
        if options.tls:
            key, certificate = make_certificate(self.child.folder, options.address)
            ready["tlsPort"] = free_port(options.address)
            ready["certificate"] = str(certificate)
            command += ["--tls-listening-port", str(ready["tlsPort"]), "--cert", str(certificate), "--pkey", str(key)]
        else:
            command += ["--no-tls"]
        self.log = self.child.folder / "log"
        with open(self.log, "wb") as log:
            self.process = self.child.start(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.child.folder)
        for _ in range(100):
            if self.process.poll() is not None:
                raise RuntimeError(f"turnserver ended with status {self.process.returncode}: {self.tail()}")
            if await asyncio.to_thread(answers, options.address, port):
                break
            await asyncio.sleep(0.05)
        else:
            raise RuntimeError(f"turnserver did not answer within 10 s: {self.tail()}")
        emit("ready", **ready)

    def tail(self):
        return self.log.read_text(errors="replace")[-600:]

    async def handle(self, command):
        name = command.get("do") if isinstance(command, dict) else None
        if name == "log":
            emit("log", text=self.log.read_text(errors="replace"))
        elif name == "freeze":
            self.child.signal(signal.SIGSTOP)
            emit("frozen")
        elif name == "thaw":
            self.child.signal(signal.SIGCONT)
            emit("thawed")
        elif name == "kill":
            self.child.signal(signal.SIGKILL)
            emit("killed")
        else:
            emit("failed", do=name, message=f"there is no command {name!r}")


async def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--address", default="127.0.0.1", help="where it listens and what it relays from")
    parser.add_argument("--port", type=int, help="for UDP and TCP; a free one if not given")
    parser.add_argument("--user", default="voice")
    parser.add_argument("--password", default="secret")
    parser.add_argument("--realm", default="voice.test")
    parser.add_argument("--tls", action="store_true", help="also listens for TLS, with a certificate that it makes")
    parser.add_argument("--stale-nonce", type=int, help="seconds after which a nonce is answered with 438")
    parser.add_argument("--lifetime", type=int, help="seconds that an allocation lasts at most")
    parser.add_argument("--namespace", help="runs in this network namespace (ip netns)")
    options = parser.parse_args()
    enter_namespace(options.namespace)
    server = TurnServer(options)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        await server.start()
        await read_commands(server.handle)
    except (RuntimeError, OSError, subprocess.CalledProcessError) as error:
        emit("failed", do="start", message=str(error))
        sys.exit(1)
    finally:
        server.child.end()


if __name__ == "__main__":
    asyncio.run(main())

"""Two network namespaces joined by two paths, each of which can go down in the middle of a call.

Needs root and ip (iproute2). README.md says how it is driven. The namespaces go when its input ends, and also if this
process is killed.
"""

import argparse
import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import time

from peer_support import emit, read_commands
from rtc_support import Guard, echo

SIDES = ("a", "b")
MANNERS = ("silence", "link", "address")
# Nobody has it, so what is sent there is dropped without a word.
NOWHERE = "02:00:00:00:00:fe"


def run(*words):
    result = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if result.returncode != 0:
        raise RuntimeError(f"{' '.join(words)}: {result.stderr.strip() or result.returncode}")
    return result.stdout


class Paths:
    """Path n joins 10.77.n.1 of side a to 10.77.n.2 of side b."""

    def __init__(self, here, network):
        name = f"vp{os.getpid()}"
        self.namespaces = {"a": None if here else f"{name}a", "b": f"{name}b"}
        self.interfaces = {(side, path): f"{name}{side}{path}" for side in SIDES for path in (1, 2)}
        self.addresses = {(side, path): f"{network}.{path}.{1 + SIDES.index(side)}" for side, path in self.interfaces}
        self.down = {}
        self.guard = None

    def ip(self, side, *words):
        namespace = self.namespaces[side]
        return run("ip", *(["-n", namespace] if namespace else []), *words)

    def sysctl(self, side, text, value):
        """Settings of an interface, which are those of the namespace of whoever writes them."""
        namespace = self.namespaces[side]
        entering = ["ip", "netns", "exec", namespace] if namespace else []
        run(*entering, "sh", "-c", f"echo {value} > /proc/sys/net/{text}")

    def make(self):
        if os.geteuid() != 0:
            raise RuntimeError("network namespaces need root")
        # Interfaces go with their other end, also where a process still keeps a namespace.
        lines = [f"ip -n {self.namespaces['b']} link del {self.interfaces['b', path]}" for path in (1, 2)]
        lines += [f"ip netns del {name}" for name in self.namespaces.values() if name]
        self.guard = Guard("; ".join(lines))
        for name in filter(None, self.namespaces.values()):
            run("ip", "netns", "add", name)
            run("ip", "-n", name, "link", "set", "lo", "up")
        for path in (1, 2):
            one, other = self.interfaces["a", path], self.interfaces["b", path]
            self.ip("a", "link", "add", one, "type", "veth", "peer", "name", other, "netns", self.namespaces["b"])
            for side in SIDES:
                interface = self.interfaces[side, path]
                self.sysctl(side, f"ipv6/conf/{interface}/disable_ipv6", 1)
                # What comes from an address of the other path is dropped, so each pair of addresses has one path.
                self.sysctl(side, f"ipv4/conf/{interface}/rp_filter", 1)
                self.ip(side, "address", "add", f"{self.addresses[side, path]}/24", "dev", interface)
                self.ip(side, "link", "set", interface, "up")

    def description(self):
        return {
            "a": self.namespaces["a"], "b": self.namespaces["b"],
            "paths": [
                {"path": path, **{
                    side: {"interface": self.interfaces[side, path], "address": self.addresses[side, path]}
                    for side in SIDES}}
                for path in (1, 2)],
        }

    def take_down(self, path, manner, side):
        if path in self.down:
            raise RuntimeError(f"path {path} is down already")
        interface = self.interfaces[side, path]
        if manner == "silence":
            for near, far in [("a", "b"), ("b", "a")]:
                self.ip(near, "neighbour", "replace", self.addresses[far, path], "lladdr", NOWHERE, "nud", "permanent",
                        "dev", self.interfaces[near, path])
        elif manner == "link":
            self.ip(side, "link", "set", interface, "down")
        elif manner == "address":
            self.ip(side, "address", "del", f"{self.addresses[side, path]}/24", "dev", interface)
        else:
            raise RuntimeError(f"there is no manner {manner!r}; there are {', '.join(MANNERS)}")
        self.down[path] = (manner, side)

    def bring_up(self, path):
        if path not in self.down:
            raise RuntimeError(f"path {path} is not down")
        manner, side = self.down.pop(path)
        interface = self.interfaces[side, path]
        if manner == "silence":
            for near, far in [("a", "b"), ("b", "a")]:
                self.ip(near, "neighbour", "del", self.addresses[far, path], "dev", self.interfaces[near, path])
        elif manner == "link":
            self.ip(side, "link", "set", interface, "up")
        else:
            self.ip(side, "address", "add", f"{self.addresses[side, path]}/24", "dev", interface)

    async def handle(self, command):
        name = command.get("do") if isinstance(command, dict) else None
        try:
            path = command.get("path") if isinstance(command, dict) else None
            if name not in ("down", "up"):
                raise RuntimeError(f"there is no command {name!r}")
            if path not in (1, 2):
                raise RuntimeError("the path must be 1 or 2")
            if name == "down":
                manner, side = command.get("manner", "silence"), command.get("side", "a")
                if side not in SIDES:
                    raise RuntimeError("the side must be a or b")
                self.take_down(path, manner, side)
                emit("down", path=path, manner=manner, at=round(time.time(), 3), **echo(command))
            else:
                self.bring_up(path)
                emit("up", path=path, at=round(time.time(), 3), **echo(command))
        except RuntimeError as error:
            emit("failed", do=name, message=str(error), **echo(command))

    def remove(self):
        if self.guard:
            self.guard.end()


async def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--here", action="store_true", help="side a is the namespace of this process")
    parser.add_argument("--network", default="10.77", help="the first two numbers of the addresses")
    options = parser.parse_args()
    paths = Paths(options.here, options.network)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        paths.make()
        emit("ready", **paths.description())
        await read_commands(paths.handle)
    except (RuntimeError, OSError) as error:
        emit("failed", do="start", message=str(error))
        sys.exit(1)
    finally:
        with contextlib.suppress(OSError):
            paths.remove()


if __name__ == "__main__":
    asyncio.run(main())

"""Frames written by hand: how a gateway keeps the rules of RFC 6455, and what it does with clients that do not.

Usage: call_raw.py --http HOST:PORT CASE…
One JSON line per case: {"event":"case","case":NAME,"ok":true|false,"error":TEXT}.
"""

import argparse
import asyncio
import base64
import json
import os
import struct
import traceback

from peer_support import emit

ADDRESS = None
TEXT, BINARY, CLOSE, PING, PONG, CONTINUATION = 1, 2, 8, 9, 10, 0


class Raw:
    async def open(self, path="/", headers=""):
        host, port = ADDRESS.rsplit(":", 1)
        self.reader, self.writer = await asyncio.open_connection(host, int(port), limit=2**24)
        key = base64.b64encode(os.urandom(16)).decode()
        self.writer.write(
            f"GET {path} HTTP/1.1\r\nHost: {ADDRESS}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n{headers}\r\n".encode())
        self.status = int((await self.head())[0].split()[1])
        return self

    async def head(self):
        text = await asyncio.wait_for(self.reader.readuntil(b"\r\n\r\n"), 10)
        return text.decode().split("\r\n")

    def frame(self, opcode, payload=b"", fin=True, mask=True, rsv=0):
        if isinstance(payload, str):
            payload = payload.encode()
        head = bytes([(0x80 if fin else 0) | rsv << 4 | opcode])
        bit = 0x80 if mask else 0
        if len(payload) < 126:
            head += bytes([bit | len(payload)])
        elif len(payload) < 65536:
            head += bytes([bit | 126]) + struct.pack(">H", len(payload))
        else:
            head += bytes([bit | 127]) + struct.pack(">Q", len(payload))
        if not mask:
            return head + payload
        key = os.urandom(4)
        return head + key + bytes(byte ^ key[index % 4] for index, byte in enumerate(payload))

    async def send(self, *frames):
        self.writer.write(b"".join(frames))
        await self.writer.drain()

    async def read(self):
        """The next frame: (opcode, payload); ("end", None) when the connection is over."""
        try:
            first, second = await asyncio.wait_for(self.reader.readexactly(2), 15)
            assert first & 0x70 == 0 and second & 0x80 == 0, "a server's frame is masked or has reserved bits"
            length = second & 0x7F
            if length == 126:
                (length,) = struct.unpack(">H", await self.reader.readexactly(2))
            elif length == 127:
                (length,) = struct.unpack(">Q", await self.reader.readexactly(8))
            return first & 0xF, await self.reader.readexactly(length)
        except (asyncio.IncompleteReadError, ConnectionError):
            return "end", None

    async def closes_with(self, code):
        opcode, payload = await self.read()
        assert opcode == CLOSE, (opcode, payload)
        assert struct.unpack(">H", payload[:2])[0] == code, payload
        await self.send(self.frame(CLOSE, payload[:2]))
        assert (await self.read())[0] == "end"

    def close(self):
        self.writer.close()


PING_TEXT = json.dumps({"jsonrpc": "2.0", "id": "p", "method": "telnyx_rtc.ping", "params": {}})


async def answer_of(raw):
    opcode, payload = await raw.read()
    assert opcode == TEXT, (opcode, payload)
    return json.loads(payload)


async def fragments_with_control_frames_between():
    raw = await Raw().open()
    half = len(PING_TEXT) // 2
    await raw.send(
        raw.frame(TEXT, PING_TEXT[:half], fin=False), raw.frame(PING, "hello"),
        raw.frame(CONTINUATION, b"", fin=False), raw.frame(CONTINUATION, PING_TEXT[half:]))
    assert await raw.read() == (PONG, b"hello")
    assert (await answer_of(raw))["id"] == "p"
    raw.close()


async def byte_by_byte():
    raw = await Raw().open("/calls")
    for byte in raw.frame(TEXT, PING_TEXT):
        await raw.send(bytes([byte]))
        await asyncio.sleep(0)
    assert (await answer_of(raw))["id"] == "p"
    raw.close()


async def many_in_one_packet():
    raw = await Raw().open()
    await raw.send(*[raw.frame(TEXT, PING_TEXT) for _ in range(50)])
    for _ in range(50):
        assert (await answer_of(raw))["id"] == "p"
    raw.close()


async def closes_as_asked():
    raw = await Raw().open()
    await raw.send(raw.frame(CLOSE, struct.pack(">H", 1000) + b"bye"))
    opcode, payload = await raw.read()
    assert opcode == CLOSE and struct.unpack(">H", payload[:2])[0] == 1000, payload
    assert (await raw.read())[0] == "end"


async def violations():
    half = raw_text = PING_TEXT
    for code, frames in [
        (1002, lambda raw: [raw.frame(TEXT, raw_text, mask=False)]),
        (1002, lambda raw: [raw.frame(TEXT, raw_text, rsv=4)]),
        (1002, lambda raw: [raw.frame(3, "x")]),
        (1002, lambda raw: [raw.frame(PING, "x" * 126)]),
        (1002, lambda raw: [raw.frame(PING, "x", fin=False)]),
        (1002, lambda raw: [raw.frame(CONTINUATION, "x")]),
        (1002, lambda raw: [raw.frame(TEXT, half, fin=False), raw.frame(TEXT, "x")]),
        (1002, lambda raw: [raw.frame(CLOSE, b"\x03")]),
        (1002, lambda raw: [raw.frame(CLOSE, struct.pack(">H", 1005))]),
        (1003, lambda raw: [raw.frame(BINARY, "x")]),
        (1007, lambda raw: [raw.frame(TEXT, b"\xff\xfe")]),
        (1007, lambda raw: [raw.frame(CLOSE, struct.pack(">H", 1000) + b"\xff")]),
        (1009, lambda raw: [raw.frame(TEXT, "x" * 300_000)]),
        (1009, lambda raw: [raw.frame(TEXT, "x" * 200_000, fin=False), raw.frame(CONTINUATION, "x" * 200_000)]),
        (1009, lambda raw: [raw.frame(TEXT, "{", fin=False)] + [raw.frame(CONTINUATION, "", fin=False)] * 2000),
    ]:
        raw = await Raw().open()
        for frame in frames(raw):
            try:
                await raw.send(frame)
            except ConnectionError:
                break
        opcode, payload = await raw.read()
        if code == 1009 and opcode == "end":
            # What was still being sent when the gateway closed makes TCP drop the close frame.
            continue
        assert opcode == CLOSE, (code, opcode, payload)
        assert struct.unpack(">H", payload[:2])[0] == code, (code, payload)
        raw.close()


async def handshakes():
    """Requests that are no good upgrade get an HTTP answer; other pages still work on the same port."""
    for path, status in [("/nothing-here", 404), ("/healthz", 200)]:
        raw = await Raw().open(path)
        assert raw.status == status, (path, raw.status)
        raw.close()
    host, port = ADDRESS.rsplit(":", 1)
    for request, status in [
        (f"GET / HTTP/1.1\r\nHost: {ADDRESS}\r\n\r\n", 426),
        (f"POST / HTTP/1.1\r\nHost: {ADDRESS}\r\nContent-Length: 0\r\n\r\n", 404),
        ("NONSENSE\r\n\r\n", 400),
    ]:
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(request.encode())
        line = await asyncio.wait_for(reader.readline(), 10)
        assert int(line.split()[1]) == status, (request, line)
        writer.close()


async def slow_loris():
    """A handshake of one byte a second is cut, and so is a socket that nobody logs in at."""
    host, port = ADDRESS.rsplit(":", 1)
    reader, writer = await asyncio.open_connection(host, int(port))
    silent_reader, silent_writer = await asyncio.open_connection(host, int(port))

    async def trickle():
        for byte in b"GET / HTTP/1.1\r\nHost: example.org\r\nUpgrade: websocket\r\nX-Slow: " + b"x" * 100:
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(0.1)

    task = asyncio.create_task(trickle())
    try:
        assert await asyncio.wait_for(reader.read(), 8) == b""
    except ConnectionError:
        pass
    assert await asyncio.wait_for(silent_reader.read(), 8) == b""
    task.cancel()
    silent_writer.close()
    raw = await Raw().open()
    await raw.closes_with(1008)


async def slow_reader():
    """A client that asks and never reads is cut, and does not take the others with it."""
    raw = await Raw().open()
    raw.writer.transport.pause_reading()
    sock = raw.writer.get_extra_info("socket")
    sock.setsockopt(__import__("socket").SOL_SOCKET, __import__("socket").SO_RCVBUF, 4096)
    echo = raw.frame(TEXT, json.dumps({
        "jsonrpc": "2.0", "id": "e", "method": "echo", "params": {"x": "x" * 100_000}}))
    sent = 0
    try:
        for _ in range(900):
            # A busy machine is slow; who gives up before the cut proves nothing.
            await asyncio.wait_for(raw.send(echo), 60)
            sent += 1
    except ConnectionError:
        pass
    assert sent < 900, "the gateway took everything"
    other = await Raw().open()
    await other.send(other.frame(TEXT, PING_TEXT))
    assert (await answer_of(other))["id"] == "p"
    other.close()


async def no_room():
    """The third socket of an address that may have two gets 503."""
    first, second = await Raw().open(), await Raw().open()
    third = await Raw().open()
    assert (first.status, second.status, third.status) == (101, 101, 503), third.status
    first.close()
    for raw in (second, third):
        raw.close()


async def main():
    global ADDRESS
    parser = argparse.ArgumentParser()
    parser.add_argument("--http", required=True)
    parser.add_argument("cases", nargs="+")
    arguments = parser.parse_args()
    ADDRESS = arguments.http
    for case in arguments.cases:
        try:
            await asyncio.wait_for(globals()[case](), 60)
            emit("case", case=case, ok=True)
        except Exception as error:
            emit("case", case=case, ok=False, error=f"{error!r} {traceback.format_exc(limit=-3)}")


if __name__ == "__main__":
    asyncio.run(main())

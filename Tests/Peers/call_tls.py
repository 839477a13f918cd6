"""Asks a server's HTTP port for its health over TLS, and logs in for calls over wss.

Usage: call_tls.py --port N --ca FILE
JSON lines: {"event":"health","status":N}, then {"event":"calls","message":TEXT}.
"""

import argparse
import asyncio
import http.client
import json
import ssl

import websockets

from peer_support import emit


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--ca", required=True)
    arguments = parser.parse_args()
    context = ssl.create_default_context(cafile=arguments.ca)
    connection = http.client.HTTPSConnection("localhost", arguments.port, context=context, timeout=20)
    connection.request("GET", "/healthz")
    emit("health", status=connection.getresponse().status)
    connection.close()
    async with websockets.connect(f"wss://localhost:{arguments.port}/calls", ssl=context) as socket:
        params = {"login": "alice", "passwd": "a long password", "sessid": "s"}
        await socket.send(json.dumps({"jsonrpc": "2.0", "id": "1", "method": "login", "params": params}))
        emit("calls", message=json.loads(await socket.recv())["result"]["message"])


if __name__ == "__main__":
    asyncio.run(main())

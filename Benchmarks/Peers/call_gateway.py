"""A gateway for calls as one would write it with Python's websockets: login, invite, ringing, answer, bye between two clients.

Prints `PORT <n>` when it is ready; ends when its standard input ends.
"""

import asyncio
import contextlib
import itertools
import json
import os
import sys
import threading
import uuid

from websockets.asyncio.server import serve

users = {}
calls = {}


class Client:
    def __init__(self, socket):
        self.socket = socket
        self.numbers = itertools.count(1)
        self.user = None
        self.session = None

    async def send(self, frame):
        frame["voice_sdk_id"] = "VSDK1python"
        await self.socket.send(json.dumps(frame, separators=(",", ":")))

    async def reply(self, frame, result):
        await self.send({"jsonrpc": "2.0", "id": frame["id"], "result": result})

    async def refuse(self, frame, code, message):
        await self.send({"jsonrpc": "2.0", "id": frame["id"], "error": {"code": code, "message": message}})

    async def ask(self, method, params):
        await self.send({
            "jsonrpc": "2.0", "id": next(self.numbers), "method": f"telnyx_rtc.{method}", "params": params})

    async def run(self):
        with contextlib.suppress(Exception):
            async for text in self.socket:
                await self.handle(json.loads(text))
        if self.user:
            users.get(self.user, set()).discard(self)

    async def handle(self, frame):
        method = frame.get("method", "").split(".")[-1]
        params = frame.get("params", {})
        if method == "login":
            if params.get("passwd") != f"{params.get('login')}-password":
                return await self.refuse(frame, -32001, "Authentication Failure")
            self.user, self.session = params["login"], params.get("sessid")
            users.setdefault(self.user, set()).add(self)
            await self.reply(frame, {"message": "logged in", "sessid": self.session})
            return await self.ask("clientReady", {"reattached_sessions": []})
        if self.user is None:
            return await self.refuse(frame, -32000, "Authentication Required")
        if method == "gatewayState":
            return await self.reply(frame, {"params": {"state": "REGED"}, "sessid": self.session})
        dialog = params.get("dialogParams", {})
        call = dialog.get("callID")
        if method == "invite":
            await self.reply(frame, {"callID": call, "message": "CALL CREATED", "sessid": self.session})
            others = users.get(dialog["destination_number"])
            if not others:
                return await self.ask("bye", {"callID": call, "cause": "USER_NOT_REGISTERED", "causeCode": 606})
            ids = {"telnyx_session_id": str(uuid.uuid4()), "telnyx_leg_id": str(uuid.uuid4())}
            names = {
                "caller_id_name": dialog.get("caller_id_name"), "caller_id_number": dialog.get("caller_id_number"),
                "callee_id_name": dialog["destination_number"], "callee_id_number": dialog["destination_number"]}
            for other in others:
                leg = str(uuid.uuid4())
                calls[leg] = (self, call)
                calls[call] = (other, leg)
                await other.ask("invite", {
                    "callID": leg, "sdp": params["sdp"], "display_direction": "outbound", **names, **ids,
                    "client_state": dialog.get("clientState"),
                    "dialogParams": {"custom_headers": dialog.get("custom_headers", [])}})
            return await self.ask("ringing", {
                "callID": call, "display_direction": "inbound", **names, **ids,
                "dialogParams": {"custom_headers": []}})
        if call not in calls:
            return await self.refuse(frame, -32002, "CALL DOES NOT EXIST")
        other, leg = calls[call]
        if method == "answer":
            await self.reply(frame, {"callID": call, "message": "CALL ANSWERED", "sessid": self.session})
            return await other.ask("answer", {
                "callID": leg, "sdp": params["sdp"], "dialogParams": {"custom_headers": []}})
        if method == "bye":
            calls.pop(call)
            calls.pop(leg, None)
            cause = {"cause": params.get("cause"), "causeCode": params.get("causeCode")}
            await self.reply(frame, {"callID": call, "message": "CALL ENDED", **cause})
            return await other.ask("bye", {"callID": leg, **cause})
        return await self.refuse(frame, -32601, "Invalid Method")


async def main():
    async with serve(
        lambda socket: Client(socket).run(), "127.0.0.1", 0, compression=None, ping_interval=30
    ) as server:
        print("PORT", server.sockets[0].getsockname()[1], flush=True)
        await asyncio.get_running_loop().create_future()


def end_with_input():
    while sys.stdin.readline():
        pass
    os._exit(0)


threading.Thread(target=end_with_input, daemon=True).start()
asyncio.run(main())

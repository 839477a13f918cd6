"""A gateway for calls that plays the documented flows to a client: independent of the Swift codec.

usage: call_gateway.py FLOW, with FLOW one of integer-ids, no-acks, late-sdp, verto, cut-once, calls
"""

import asyncio
import json
import sys
import uuid

import websockets

from peer_support import emit

SDP = "v=0\r\no=- 1 1 IN IP4 192.0.2.7\r\ns=-\r\nt=0 0\r\nm=audio 9 UDP/TLS/RTP/SAVPF 0\r\nc=IN IP4 192.0.2.7\r\na=sendrecv\r\n"


class Gateway:
    def __init__(self, flow):
        self.flow = flow
        self.prefix = "verto." if flow == "verto" else "telnyx_rtc."
        self.server_id = 138417
        self.logins = 0
        self.calls = set()
        self.established = set()
        self.held = set()

    async def send(self, socket, **frame):
        await socket.send(json.dumps({"jsonrpc": "2.0", **frame, "voice_sdk_id": "VSDK1python"}))

    async def request(self, socket, method, **params):
        # Servers use integer ids (telnyx.md section 0.1).
        self.server_id += 1
        await self.send(socket, id=self.server_id, method=self.prefix + method, params=params)

    async def serve(self, socket):
        try:
            async for text in socket:
                frame = json.loads(text)
                if "method" in frame:
                    await self.answer(socket, frame)
                elif "result" in frame:
                    emit("acknowledged", method=frame["result"].get("method"), id=frame["id"])
        except websockets.ConnectionClosed:
            pass

    async def answer(self, socket, frame):
        method = frame["method"].removeprefix(self.prefix)
        params = frame.get("params", {})
        call = params.get("dialogParams", {}).get("callID") or params.get("callID")
        session = params.get("sessid")

        async def result(**value):
            await self.send(socket, id=frame["id"], result=value)

        if method == "login":
            self.logins += 1
            emit("login", number=self.logins, sessid=session, attach_call=params.get("loginParams", {}).get("attach_call", ""))
            await result(message="logged in", sessid=session)
            if self.flow != "verto":
                await self.request(socket, "clientReady", reattached_sessions=sorted(self.calls))
        elif method == "gatewayState":
            await result(params={"state": "REGED", "call_report_id": "r"}, sessid=session or "")
            for known in sorted(self.established):
                await self.request(socket, "attach", callID=known, sdp=SDP, dialogParams={"custom_headers": []})
            if self.flow == "calls" and not self.calls:
                incoming = str(uuid.uuid4())
                self.calls.add(incoming)
                await self.request(
                    socket, "invite", callID=incoming, sdp=SDP, caller_id_name="Bob", caller_id_number="1002",
                    dialogParams={"custom_headers": [{"name": "X-A", "value": "1"}]})
        elif method == "invite":
            self.calls.add(call)
            if self.flow != "no-acks":
                await result(callID=call, message="CALL CREATED", sessid=session)
            if self.flow in ("late-sdp", "verto"):
                if self.flow == "late-sdp":
                    await self.request(socket, "ringing", callID=call, dialogParams={"custom_headers": []})
                await self.request(socket, "media", callID=call, sdp=SDP, dialogParams={"custom_headers": []})
                await self.request(socket, "answer", callID=call, dialogParams={"custom_headers": []})
            else:
                await self.request(socket, "ringing", callID=call, dialogParams={"custom_headers": []})
                await self.request(socket, "answer", callID=call, sdp=SDP, telnyx_call_control_id="v3:x")
            self.established.add(call)
            if self.flow == "cut-once" and self.logins == 1:
                await asyncio.sleep(0.3)
                socket.transport.abort()
        elif method == "answer":
            self.established.add(call)
            await result(callID=call, message="CALL ANSWERED", sessid=session)
            if self.flow == "calls":
                await self.request(
                    socket, "bye", callID=call, cause="CALL_REJECTED", causeCode=21, sipCode=403,
                    sipReason="Dialed number is not included in whitelisted countries")
        elif method == "attach":
            await result(callID=call, message="CALL ATTACHED", sessid=session)
            emit("attached", call=call, attach=params["dialogParams"].get("attach", False))
        elif method == "modify":
            action = params["action"]
            state = {"hold": "held", "unhold": "active"}.get(action)
            await result(callID=call, action=action, holdState=state, sessid=session)
        elif method == "info":
            await result(message="SENT")
            emit("info", dtmf=params.get("dtmf"))
        elif method == "bye":
            self.calls.discard(call)
            self.established.discard(call)
            await result(callID=call, message="CALL ENDED", cause=params.get("cause"), causeCode=params.get("causeCode"))
            emit("bye", cause=params.get("cause"), call=call)
        else:
            await result(message="OK")


async def main():
    gateway = Gateway(sys.argv[1])
    async with websockets.serve(gateway.serve, "127.0.0.1", 0) as server:
        emit("listening", port=server.sockets[0].getsockname()[1])
        loop = asyncio.get_running_loop()
        # The peer ends when its standard input does.
        await loop.run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main())

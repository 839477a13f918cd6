"""A client for calls that shares no code with the project: plays the documented flows of both dialects against a gateway.

Usage: call_client.py --http HOST:PORT [--token NAME=TEXT] CASE…
One JSON line per case: {"event":"case","case":NAME,"ok":true|false,"error":TEXT}.
"""

import argparse
import asyncio
import contextlib
import itertools
import json
import traceback
import uuid

import websockets
from peer_support import emit
from websockets.asyncio.client import connect

OFFER = "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\nm=audio 9 UDP/TLS/RTP/SAVPF 111 0\r\n" \
    "c=IN IP4 0.0.0.0\r\na=mid:0\r\na=setup:actpass\r\na=rtpmap:111 opus/48000/2\r\na=sendrecv\r\n" \
    "a=ice-ufrag:peer\r\na=ice-pwd:passwordofthepeerwithoutmedia\r\na=rtcp-mux\r\n" \
    "a=fingerprint:sha-256 " + ":".join(["5A"] * 32) + "\r\n"
ANSWER = OFFER.replace("actpass", "active").replace("111 0", "111")
ADDRESS = None
TOKENS = {}


class Client:
    """One socket: requests with their responses, and everything the gateway sends, in order."""

    def __init__(self, dialect="telnyx_rtc", acks=True):
        self.dialect = dialect
        self.acks = acks
        self.numbers = itertools.count(1)
        self.waiting = {}
        self.inbox = asyncio.Queue()
        self.sessid = str(uuid.uuid4())
        self.call_ids = set()
        self.closed = asyncio.get_running_loop().create_future()

    async def open(self, path="/"):
        self.socket = await connect(f"ws://{ADDRESS}{path}", ping_interval=None, max_size=2**22)
        self.reader = asyncio.create_task(self.read())
        return self

    async def read(self):
        try:
            async for text in self.socket:
                assert isinstance(text, str), "the gateway sends binary frames"
                frame = json.loads(text)
                assert frame["jsonrpc"] == "2.0", frame
                assert frame["voice_sdk_id"].isalnum(), frame
                if "method" in frame:
                    assert isinstance(frame["id"], int), "a gateway counts its requests"
                    self.inbox.put_nowait(frame)
                    if self.acks and frame["method"].split(".")[-1] not in ("clientReady", "ping", "modify"):
                        await self.send({"jsonrpc": "2.0", "id": frame["id"], "result": {"method": frame["method"]}})
                elif frame.get("id") in self.waiting:
                    self.waiting.pop(frame["id"]).set_result(frame)
                else:
                    self.inbox.put_nowait(frame)
        except websockets.ConnectionClosed:
            pass
        finally:
            if not self.closed.done():
                self.closed.set_result((self.socket.close_code, self.socket.close_reason))

    async def send(self, frame):
        await self.socket.send(json.dumps(frame))

    async def request(self, method, params, prefixed=True, key=None):
        number = key if key is not None else (
            next(self.numbers) if self.dialect == "verto" else str(uuid.uuid4()))
        name = f"{self.dialect}.{method}" if prefixed else method
        future = asyncio.get_running_loop().create_future()
        self.waiting[number] = future
        await self.send({"jsonrpc": "2.0", "id": number, "method": name, "params": params})
        answer = await asyncio.wait_for(future, 10)
        assert answer["id"] == number and type(answer["id"]) is type(number), "the id is not echoed"
        return answer

    async def result(self, method, params, **more):
        answer = await self.request(method, params, **more)
        assert "result" in answer, answer
        return answer["result"]

    async def error(self, method, params, **more):
        answer = await self.request(method, params, **more)
        assert "error" in answer, answer
        return answer["error"]

    async def next(self, method):
        """The gateway's next request, which must be of this method."""
        frame = await asyncio.wait_for(self.inbox.get(), 10)
        assert frame.get("method", "").split(".")[-1] == method, f"{method} awaited, {frame} came"
        if frame["method"] != "login":
            assert frame["method"].startswith(self.dialect + "."), frame["method"]
        return frame["params"]

    async def login(self, user="alice", password="alice-password", expects=None, **params):
        if self.dialect == "verto":
            user += "@example.org"
        answer = await self.result(
            "login", {"login": user, "passwd": password, "sessid": self.sessid, "loginParams": {},
                      "userVariables": {}, **params}, prefixed=False)
        assert answer["message"] == "logged in", answer
        assert answer["sessid"] == self.sessid, answer
        ready = await self.next("clientReady")
        assert ready["reattached_sessions"] == (expects or []), ready
        if self.dialect == "telnyx_rtc":
            state = await self.result("gatewayState", {})
            assert state["params"]["state"] == "REGED", state
        return self

    def dialog(self, call, **more):
        return {"callID": call, "audio": True, "video": False, **more}

    async def invite(self, destination, call=None, sdp=OFFER, key="sessid", **more):
        call = call or str(uuid.uuid4())
        answer = await self.result("invite", {
            key: self.sessid, "sdp": sdp, "User-Agent": {"sdkVersion": "1", "data": "peer"},
            "dialogParams": self.dialog(
                call, destination_number=destination, caller_id_name="Alice", caller_id_number="1001",
                remote_caller_id_name="Outbound Call",
                clientState="c3RhdGU=", custom_headers=[{"name": "X-T", "value": "1"}], **more)})
        assert answer["message"] == "CALL CREATED" and answer["callID"] == call, answer
        return call

    async def bye(self, call, cause="NORMAL_CLEARING", code=16):
        answer = await self.result("bye", {
            "sessId": self.sessid, "cause": cause, "causeCode": code, "dialogParams": {"callID": call.lower()}})
        assert answer["message"] == "CALL ENDED" and answer["cause"] == cause, answer

    async def quiet(self):
        """Nothing more is on its way: what was sent before a ping's answer would be here."""
        await self.result("ping", {}) if self.dialect == "telnyx_rtc" else await self.result("echo", {}, prefixed=False)
        assert self.inbox.empty(), self.inbox.get_nowait()

    async def close(self):
        await self.socket.close()
        await self.reader

    async def drop(self):
        self.socket.transport.abort()
        await self.reader


@contextlib.asynccontextmanager
async def clients(*names, dialect="telnyx_rtc", acks=True):
    everybody = []
    try:
        for name in names:
            client = await Client(dialect, acks).open()
            everybody.append(client)
            await client.login(name, f"{name}-password")
        yield everybody
    finally:
        for client in everybody:
            await client.close()


async def ring(alice, bob, **more):
    call = await alice.invite("bob", **more)
    invited = await bob.next("invite")
    if alice.dialect == "verto":
        await alice.next("display")
    else:
        ringing = await alice.next("ringing")
        assert ringing["callID"] == call and ringing["dialogParams"]["custom_headers"] == [], ringing
    return call, invited


async def talk(alice, bob):
    call, invited = await ring(alice, bob)
    answer = await bob.result("answer", {
        "sessid": bob.sessid, "sdp": ANSWER, "dialogParams": bob.dialog(invited["callID"])})
    assert answer["message"] == "CALL ANSWERED" and answer["callID"] == invited["callID"], answer
    answered = await alice.next("answer")
    assert answered["callID"] == call and answered["sdp"] == ANSWER, answered
    return call, invited["callID"]


# --- Cases -----------------------------------------------------------------------------------------------------------


async def two_clients():
    async with clients("alice", "bob") as (alice, bob):
        call, invited = await ring(alice, bob)
        assert invited["sdp"] == OFFER and invited["caller_id_name"] == "Alice", invited
        assert invited["caller_id_number"] == "1001" and invited["client_state"] == "c3RhdGU=", invited
        assert invited["dialogParams"]["custom_headers"] == [{"name": "X-T", "value": "1"}], invited
        assert uuid.UUID(invited["callID"]) and uuid.UUID(invited["telnyx_session_id"])
        await bob.result("answer", {"sdp": ANSWER, "dialogParams": bob.dialog(invited["callID"])})
        answered = await alice.next("answer")
        assert answered["sdp"] == ANSWER and answered["telnyx_call_control_id"].startswith("v3:"), answered
        # DTMF, hold, candidates go to the other side.
        sent = await alice.result("info", {"sessid": alice.sessid, "dtmf": "5#", "dialogParams": {"callID": call}})
        assert sent == {"message": "SENT"}, sent
        assert (await bob.next("info"))["dtmf"] == "5#"
        held = await bob.result("modify", {"action": "hold", "dialogParams": {"callID": invited["callID"]}})
        assert held["action"] == "hold" and held["holdState"] == "held", held
        assert (await alice.next("modify"))["action"] == "hold"
        held = await bob.result("modify", {"action": "toggleHold", "dialogParams": {"callID": invited["callID"]}})
        assert held["holdState"] == "active", held
        assert (await alice.next("modify"))["action"] == "unhold"
        await alice.result("candidate", {
            "candidate": "candidate:1 1 udp 1 192.0.2.2 9 typ host", "sdpMid": "0", "sdpMLineIndex": 0,
            "dialogParams": {"callID": call}})
        assert (await bob.next("candidate"))["callID"] == invited["callID"]
        await alice.result("endOfCandidates", {"endOfCandidates": True, "dialogParams": {"callID": call}})
        assert (await bob.next("endOfCandidates"))["endOfCandidates"] is True
        # The called side hangs up.
        await bob.bye(invited["callID"])
        bye = await alice.next("bye")
        assert bye["callID"] == call and bye["cause"] == "NORMAL_CLEARING" and bye["causeCode"] == 16, bye
        await alice.quiet()
        await bob.quiet()


async def without_acks():
    async with clients("alice", "bob", acks=False) as (alice, bob):
        call, _ = await talk(alice, bob)
        await alice.bye(call)
        await bob.next("bye")


async def verto_dialect():
    async with clients("alice", "bob", dialect="verto") as (alice, bob):
        call, other = await talk(alice, bob)
        await alice.bye(call)
        assert (await bob.next("bye"))["callID"] == other
        answer = await alice.result("echo", {"a": 1}, prefixed=False)
        assert answer == {"a": 1}, answer


async def mixed_dialects():
    async with clients("alice", dialect="verto") as (alice,), clients("bob") as (bob,):
        call, _ = await talk(alice, bob)
        await alice.bye(call)
        await bob.next("bye")


async def early_media():
    async with clients("alice") as (alice,):
        call = await alice.invite("echo", key="sessionId")
        await alice.next("ringing")
        media = await alice.next("media")
        assert media["callID"] == call and "m=audio 9 UDP/TLS/RTP/SAVPF 111" in media["sdp"], media
        answer = await alice.next("answer")
        assert "sdp" not in answer, "the description of early media is not sent twice"
        update = await alice.result("modify", {
            "action": "updateMedia", "callID": call, "sdp": OFFER, "dialogParams": {"callID": call}})
        assert update["action"] == "updateMedia" and update["callID"] == call and "m=audio" in update["sdp"], update
        await alice.bye(call)
        await alice.quiet()


async def causes():
    async with clients("alice") as (alice,):
        for destination, cause, code, sip in [
            ("nobody", "UNALLOCATED_NUMBER", 1, 404), ("carol", "USER_NOT_REGISTERED", 606, 480),
            ("fail-486", "USER_BUSY", 17, 486), ("fail-603", "CALL_REJECTED", 21, 603),
            ("fail-503", "NORMAL_TEMPORARY_FAILURE", 41, 503), ("fail-501", "SERVICE_NOT_IMPLEMENTED", 79, 501),
            ("alice", "USER_BUSY", 17, 486),
        ]:
            call = await alice.invite(destination)
            bye = await alice.next("bye")
            got = (bye["callID"], bye["cause"], bye["causeCode"], bye["sipCode"])
            assert got == (call, cause, code, sip), got
            assert bye["sipReason"], bye


async def refused_by_callee():
    async with clients("alice", "bob") as (alice, bob):
        _, invited = await ring(alice, bob)
        await bob.bye(invited["callID"], "USER_BUSY", 17)
        bye = await alice.next("bye")
        assert bye["cause"] == "USER_BUSY" and bye["sipCode"] == 486, bye


async def cancelled_by_caller():
    async with clients("alice", "bob") as (alice, bob):
        call, invited = await ring(alice, bob)
        await alice.bye(call, "USER_BUSY", 17)
        bye = await bob.next("bye")
        assert (bye["cause"], bye["causeCode"], bye["sipCode"]) == ("ORIGINATOR_CANCEL", 487, 487), bye
        late = await bob.error("answer", {"sdp": ANSWER, "dialogParams": bob.dialog(invited["callID"])})
        assert late["code"] == -32002 and late["message"] == "CALL DOES NOT EXIST", late


async def rings_together():
    async with clients("alice", "bob", "bob", "bob") as (alice, *bobs):
        await alice.invite("bob")
        await alice.next("ringing")
        calls = [(await bob.next("invite"))["callID"] for bob in bobs]
        assert len(set(calls)) == 3
        answers = await asyncio.gather(*(
            bob.request("answer", {"sdp": ANSWER, "dialogParams": bob.dialog(call)})
            for bob, call in zip(bobs, calls)))
        winners = [answer for answer in answers if "result" in answer]
        assert len(winners) == 1, answers
        for bob, answer in zip(bobs, answers):
            if "error" in answer:
                assert (await bob.next("bye"))["cause"] == "PICKED_OFF"
                assert answer["error"]["cause"] == "LOSE_RACE" and answer["error"]["causeCode"] == 502, answer
            await bob.quiet()
        answered = await alice.next("answer")
        await alice.bye(answered["callID"])


async def open_again(alice, **login):
    """A new socket for a session whose socket was dropped; the gateway may hear of it before it hears of the end of the old one."""
    await alice.drop()
    again = Client()
    again.sessid = alice.sessid
    await again.open()
    await again.result("login", {"login": "alice", "passwd": "alice-password", **login}, prefixed=False)
    return again


async def reattach():
    async with clients("alice", "bob") as (alice, bob):
        call, other = await talk(alice, bob)
        again = await open_again(
            alice, sessId=alice.sessid, reconnection=True, loginParams={"attach_call": "true"})
        try:
            assert (await again.next("clientReady"))["reattached_sessions"] == [call]
            attach = await again.next("attach")
            assert attach["callID"] == call and "a=setup:actpass" in attach["sdp"], attach
            done = await again.result("attach", {
                "sessionId": again.sessid, "sdp": ANSWER, "dialogParams": again.dialog(call, attach=True)})
            assert done["callID"] == call, done
            assert (await bob.next("modify"))["action"] == "updateMedia"
            await again.bye(call)
            assert (await bob.next("bye"))["callID"] == other
        finally:
            await again.close()


async def tells_later():
    """What one client says while the other has no socket: that one hears it after it attached."""
    async with clients("alice", "bob") as (alice, bob):
        call, other = await talk(alice, bob)
        again = await open_again(alice, sessid=alice.sessid)
        try:
            # Until it answers the attach the client is away.
            await again.next("clientReady")
            await again.next("attach")
            sent = await bob.result("info", {"sessid": bob.sessid, "dtmf": "42#", "dialogParams": bob.dialog(other)})
            assert sent["message"] == "SENT", sent
            held = await bob.result("modify", {
                "sessid": bob.sessid, "action": "hold", "dialogParams": bob.dialog(other)})
            assert held["holdState"] == "held", held
            await again.quiet()
            await again.result("attach", {
                "sessid": again.sessid, "sdp": ANSWER, "dialogParams": again.dialog(call, attach=True)})
            info = await again.next("info")
            assert info["dtmf"] == "42#", info
            modify = await again.next("modify")
            assert modify["action"] == "hold", modify
            await again.bye(call)
        finally:
            await again.close()


async def removed_user():
    """A user that is removed while the server runs: the idle connection is closed, the one with a call after the call."""
    erin = await (await Client().open()).login("erin", "erin-password")
    idle = await (await Client().open()).login("erin", "erin-password")
    bob = await (await Client().open()).login("bob", "bob-password")
    try:
        call, other = await talk(erin, bob)
        emit("remove")
        code, reason = await asyncio.wait_for(idle.closed, 20)
        assert code == 1008 and "removed" in reason, (code, reason)
        await bob.result("info", {"sessid": bob.sessid, "dtmf": "5", "dialogParams": bob.dialog(other)})
        assert (await erin.next("info"))["dtmf"] == "5"
        await bob.bye(other)
        assert (await erin.next("bye"))["callID"] == call
        code, _ = await asyncio.wait_for(erin.closed, 10)
        assert code == 1008, code
        again = await Client().open()
        error = await again.error("login", {"login": "erin", "passwd": "erin-password"}, prefixed=False)
        assert error["code"] == -32001, error
        await again.close()
    finally:
        for client in (erin, idle, bob):
            await client.close()


async def takeover():
    async with clients("alice", "bob") as (alice, bob):
        call, _ = await talk(alice, bob)
        again = Client()
        again.sessid = alice.sessid
        await again.open()
        try:
            await again.login("alice", expects=[call])
            await again.next("attach")
            await alice.next("punt")
            code, _ = await asyncio.wait_for(alice.closed, 10)
            assert code == 1000, code
            await bob.quiet()
            await again.bye(call)
        finally:
            await again.close()


async def logins():
    for params, code in [
        ({"login": "dave", "passwd": "wrong"}, -32001), ({"login": "nobody", "passwd": "x"}, -32001),
        ({"login_token": "no.such.token"}, -32000), ({"login": "alice"}, -32602),
    ]:
        client = await Client().open()
        error = await client.error("login", params, prefixed=False)
        assert error["code"] == code, (params, error)
        await client.close()
    # A hashed password, a token of the server, a token of the configuration, a guest.
    for params in [
        {"login": "dave", "passwd": "dave-password"}, {"login_token": TOKENS["alice"]},
        {"login_token": "an-opaque-token-of-alice"},
    ]:
        client = await Client().open()
        answer = await client.result("login", params, prefixed=False)
        assert answer["message"] == "logged in" and answer["sessid"], answer
        await client.close()
    client = await Client().open()
    await client.result("anonymous_login", {
        "target_type": "ai_assistant", "target_id": "assistant-1", "sessid": client.sessid,
        "User-Agent": {"sdkVersion": "1", "data": "peer"}, "userVariables": {}}, prefixed=False)
    await client.next("clientReady")
    call = await client.invite("alice")
    bye = await client.next("bye")
    assert bye["callID"] == call and bye["sipCode"] == 403, bye
    await client.close()
    # Nothing without a login.
    client = await Client().open()
    for method in ["gatewayState", "attachCalls"]:
        error = await client.error(method, {})
        assert error["code"] == -32000 and error["message"] == "Authentication Required", error
    await client.close()


async def wrong_logins_end():
    client = await Client().open()
    for _ in range(3):
        # Of all users, this one's hash takes the least time.
        await client.error("login", {"login": "dave", "passwd": "wrong"}, prefixed=False)
    code, _ = await asyncio.wait_for(client.closed, 10)
    assert code == 1008, code


async def login_flood():
    refused, started = 0, asyncio.get_running_loop().time()
    for _ in range(60):
        client = await Client().open()
        answer = await client.request("login", {"login": "alice", "passwd": "alice-password"}, prefixed=False)
        if "error" in answer:
            assert answer["error"]["code"] == -32004 and answer["error"]["retry_after"] >= 1, answer
            refused += 1
        await client.close()
    # The gateway is told to take one per second, ten at once.
    accepted, time = 60 - refused, asyncio.get_running_loop().time() - started
    assert refused > 0 and accepted <= 11 + time, (accepted, time)


async def odd_requests():
    async with clients("alice") as (alice,):
        for method, params, code in [
            ("bye", {"dialogParams": {"callID": str(uuid.uuid4())}}, -32002), ("bye", {}, -32002),
            ("invite", {"dialogParams": {"callID": "c"}}, -32002), ("invite", {"sdp": OFFER}, -32002),
            ("invite", {"sdp": "v=0\r\n", "dialogParams": {"callID": "c"}}, -32002),
            ("invite", {"sdp": {}, "dialogParams": {"callID": "c"}}, -32602),
            ("invite", {"sdp": 5, "dialogParams": {"callID": "c"}}, -32602),
            ("answer", {"sdp": ANSWER, "dialogParams": {"callID": "c"}}, -32002),
            ("modify", {"action": "hold", "dialogParams": {"callID": "c"}}, -32002),
            ("modify", {"dialogParams": {"callID": "c"}}, -32602),
            ("info", {"dtmf": "5", "dialogParams": {"callID": "c"}}, -32002),
            ("candidate", {"candidate": "x", "dialogParams": {"callID": "c"}}, -32002),
            ("ringing_ack", {"callID": "c"}, -32002), ("attachCalls", {}, -32002), ("nonsense", {}, -32601),
            ("login", {}, -32602),
        ]:
            error = await alice.error(method, params)
            assert error["code"] == code, (method, params, error)
        assert (await alice.error("ai_conversation", {"type": "x"}, prefixed=False))["code"] == -32601
        # Ids are echoed as they came.
        for key in [7, "x", 9007199254740993]:
            await alice.result("ping", {}, key=key)
        # Responses that nobody asked for, and frames that are no messages, are survived.
        await alice.send({"jsonrpc": "2.0", "id": 424242, "result": {}})
        await alice.send({"jsonrpc": "2.0", "id": str(uuid.uuid4()), "error": {"code": "1", "message": "x"}})
        await alice.socket.send("#SPU 100")
        for text, code in [("{", -32700), ("[" * 100_000, -32700), ('"x"', -32600), ("[]", -32600), ("{}", -32600)]:
            await alice.socket.send(text)
            frame = await asyncio.wait_for(alice.inbox.get(), 10)
            assert frame["id"] is None and frame["error"]["code"] == code, (text[:20], frame)
        await alice.quiet()


async def duplicates():
    async with clients("alice", "bob") as (alice, bob):
        call, other = await talk(alice, bob)
        again = await bob.result("answer", {"sdp": ANSWER, "dialogParams": bob.dialog(other)})
        assert again["message"] == "CALL ANSWERED", again
        await alice.quiet()
        await alice.invite("bob", call=call)
        await bob.quiet()
        await alice.bye(call)
        error = await alice.error("bye", {"dialogParams": {"callID": call}})
        assert error["message"] == "CALL DOES NOT EXIST", error


async def large_frame():
    async with clients("alice") as (alice,):
        with contextlib.suppress(websockets.ConnectionClosed):
            await alice.socket.send("x" * 10_000_000)
        code, _ = await asyncio.wait_for(alice.closed, 10)
        assert code in (1009, 1006), code


async def flood_of_frames():
    async with clients("alice") as (alice,):
        text = json.dumps({"jsonrpc": "2.0", "method": "telnyx_rtc.ping", "params": {}})
        with contextlib.suppress(websockets.ConnectionClosed):
            for _ in range(3000):
                await alice.socket.send(text)
        code, reason = await asyncio.wait_for(alice.closed, 10)
        assert code in (1008, 1006), (code, reason)


async def waits_for_shutdown():
    """A call that is going on when the server stops ends with its cause, and the sockets are closed."""
    alice = await (await Client().open()).login("alice", "alice-password")
    bob = await (await Client().open()).login("bob", "bob-password")
    call, other = await talk(alice, bob)
    emit("talking")
    for client, wanted in [(alice, call), (bob, other)]:
        frame = await asyncio.wait_for(client.inbox.get(), 30)
        assert frame["method"] == "telnyx_rtc.bye" and frame["params"]["callID"] == wanted, frame
        assert frame["params"]["cause"] == "SYSTEM_SHUTDOWN", frame
        code, _ = await asyncio.wait_for(client.closed, 10)
        assert code == 1001, code


async def main():
    global ADDRESS
    parser = argparse.ArgumentParser()
    parser.add_argument("--http", required=True)
    parser.add_argument("--token", action="append", default=[])
    parser.add_argument("cases", nargs="+")
    arguments = parser.parse_args()
    ADDRESS = arguments.http
    TOKENS.update(token.split("=", 1) for token in arguments.token)
    for case in arguments.cases:
        try:
            await asyncio.wait_for(globals()[case](), 60)
            emit("case", case=case, ok=True)
        except Exception as error:
            emit("case", case=case, ok=False, error=f"{error!r} {traceback.format_exc(limit=-3)}")


if __name__ == "__main__":
    asyncio.run(main())

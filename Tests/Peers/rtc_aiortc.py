"""A peer for calls with the WebRTC implementation aiortc; README.md says how it is driven."""

import asyncio
import fractions
import time

import aioice.ice
import aiortc.codecs
import av
import numpy
from aiortc import (
    MediaStreamTrack, RTCConfiguration, RTCIceServer, RTCPeerConnection, RTCRtpSender, RTCSessionDescription,
)
from aiortc.mediastreams import MediaStreamError
from aiortc.rtcconfiguration import RTCIceTransportPolicy
from aiortc.sdp import candidate_from_sdp
from peer_support import emit
from rtc_hearing import BLOCK, RATE, Source, read_audio
from rtc_support import MediaPeer, codec_names, enter_namespace, ice_servers, local_addresses, media_options, run


class SourceTrack(MediaStreamTrack):
    """The source at the speed of the world."""

    kind = "audio"

    def __init__(self, source):
        super().__init__()
        self.source = source
        self.begin = None
        self.position = 0

    async def recv(self):
        now = time.monotonic()
        if self.begin is None:
            self.begin = now
        delay = self.begin + self.position / RATE - now
        if delay > 0:
            await asyncio.sleep(delay)
        frame = av.AudioFrame.from_ndarray(self.source.block()[numpy.newaxis, :], format="s16", layout="mono")
        frame.sample_rate = RATE
        frame.pts = self.position
        frame.time_base = fractions.Fraction(1, RATE)
        self.position += BLOCK
        return frame


class AiortcPeer(MediaPeer):
    def __init__(self, options):
        super().__init__(options)
        self.source = Source(options.tone)
        self.connection = None
        self.states = {}

    async def start(self):
        addresses = self.options.address or local_addresses()
        if not addresses:
            raise RuntimeError(
                "aiortc uses no loopback address by itself and there is no other one; give --address 127.0.0.1")
        # aioice leaves out 127.0.0.1, and takes every interface of the machine.
        aioice.ice.get_host_addresses = lambda use_ipv4, use_ipv6: addresses
        servers = [RTCIceServer(**server) for server in ice_servers(self.options.ice_server)]
        policy = RTCIceTransportPolicy.RELAY if self.options.relay_only else RTCIceTransportPolicy.ALL
        self.connection = RTCPeerConnection(RTCConfiguration(iceServers=servers, iceTransportPolicy=policy))
        for kind, attribute in [
            ("connection", "connectionState"), ("ice", "iceConnectionState"), ("signaling", "signalingState"),
        ]:
            self.connection.on(f"{attribute.lower()}change", lambda *names, k=kind, a=attribute: self.changed(k, a))
        self.connection.on("track", lambda track: self.spawn(self.hear(track)))
        self.connection.addTrack(SourceTrack(self.source))
        self.prefer_codecs()
        emit("ready", peer="aiortc", addresses=addresses)

    def prefer_codecs(self):
        capabilities = RTCRtpSender.getCapabilities("audio").codecs
        wanted = [
            codec for name in codec_names(self.options.codecs) for codec in capabilities
            if codec.mimeType.lower() == f"audio/{name}".lower()
        ]
        self.transceiver.setCodecPreferences(wanted)

    @property
    def transceiver(self):
        return self.connection.getTransceivers()[0]

    def changed(self, kind, attribute):
        state = getattr(self.connection, attribute)
        if self.states.get(kind) == state:
            return
        self.states[kind] = state
        emit("state", kind=kind, state=state, at=round(time.time(), 3))
        if (kind, state) == ("connection", "connected") and self.options.play:
            path, self.options.play = self.options.play, None
            self.spawn(self._handle({"do": "play", "file": path}))

    async def hear(self, track):
        resampler = av.AudioResampler(format="s16", layout="mono", rate=RATE)
        try:
            while True:
                frame = await track.recv()
                # The clock of the frames jumps where packets were lost, which the resampler would refuse.
                frame.pts = None
                for part in resampler.resample(frame):
                    self.hearing.hear(part.to_ndarray()[0])
        except MediaStreamError:
            emit("track-ended")

    async def describe(self, event):
        await self.connection.setLocalDescription()
        description = self.connection.localDescription
        assert description.type == event, f"{description.type} instead of {event}"
        return event, {"sdp": description.sdp, "direction": self.transceiver.direction}

    def keep_numbers(self):
        """Later offers of aiortc would number codecs and header extensions anew, whatever was agreed."""
        aiortc.codecs.CODECS["audio"] = list(self.transceiver._codecs)
        aiortc.codecs.HEADER_EXTENSIONS["audio"] = list(self.transceiver._headerExtensions)

    async def do_offer(self, direction=None, trickle=False):
        refuse_trickle(trickle)
        if direction:
            self.transceiver.direction = direction
        return await self.describe("offer")

    async def do_answer(self, sdp, direction=None, trickle=False):
        refuse_trickle(trickle)
        await self.connection.setRemoteDescription(RTCSessionDescription(sdp, "offer"))
        if direction:
            self.transceiver.direction = direction
        result = await self.describe("answer")
        self.keep_numbers()
        return result

    async def do_accept(self, sdp):
        await self.connection.setRemoteDescription(RTCSessionDescription(sdp, "answer"))
        self.keep_numbers()
        return "accepted", {"direction": self.transceiver.currentDirection}

    async def do_candidate(self, candidate, mid="0"):
        parsed = None
        if candidate:
            parsed = candidate_from_sdp(candidate.removeprefix("a=").removeprefix("candidate:"))
            parsed.sdpMid = mid
        await self.connection.addIceCandidate(parsed)
        return "candidate-added", {"candidate": candidate}

    async def do_hold(self, direction="sendonly"):
        return await self.do_offer(direction=direction)

    async def do_resume(self):
        return await self.do_offer(direction="sendrecv")

    async def do_restart(self, trickle=False):
        raise NotImplementedError("aiortc cannot restart ICE")

    async def do_keys(self, keys, duration=100, gap=70):
        raise NotImplementedError("aiortc knows no telephone events")

    async def do_tone(self, hz):
        self.source.hz = hz
        return "tone", {"hz": hz}

    async def do_play(self, file):
        samples = await asyncio.to_thread(read_audio, file)
        self.source.play(samples, lambda: emit("played", file=file, at=round(time.time(), 3)))
        return "playing", {"file": file, "seconds": round(len(samples) / RATE, 2), "at": round(time.time(), 3)}

    async def do_close(self):
        await asyncio.wait_for(self.connection.close(), 10)
        return "closed", {}

    async def finish(self):
        if self.connection:
            await asyncio.wait_for(asyncio.shield(self.connection.close()), 2)

    async def statistics(self):
        found = {value.type: value for value in (await self.connection.getStats()).values()}
        inbound, outbound = found.get("inbound-rtp"), found.get("outbound-rtp")
        remote, transport = found.get("remote-inbound-rtp"), self.transceiver.receiver.transport
        ice = transport.transport
        codecs = self.transceiver._codecs
        pair = next(iter(ice._connection._nominated.values()), None)
        clock_rate = codecs[0].clockRate if codecs else RATE
        return {
            "state": self.connection.connectionState, "ice": self.connection.iceConnectionState,
            "direction": self.transceiver.currentDirection, "codec": codecs[0].name if codecs else None,
            "received": inbound and {
                "packets": inbound.packetsReceived, "lost": inbound.packetsLost,
                "jitter": inbound.jitter / clock_rate},
            "sent": outbound and {"packets": outbound.packetsSent, "bytes": outbound.bytesSent},
            "remote": remote and {"lost": remote.packetsLost, "jitter": remote.jitter / clock_rate},
            "roundTrip": remote.roundTripTime if remote else None,
            "dtls": {"state": transport.state, "role": transport._role}, "iceRole": ice.role,
            "pair": pair and {
                "local": candidate_fields(pair.local_candidate), "remote": candidate_fields(pair.remote_candidate)},
        }


def candidate_fields(candidate):
    return {
        "kind": candidate.type, "address": candidate.host, "port": candidate.port, "protocol": candidate.transport}


def refuse_trickle(trickle):
    if trickle:
        raise NotImplementedError("aiortc gathers all candidates first")


def main():
    parser = media_options(__doc__)
    parser.add_argument("--address", action="append", default=[], help="uses these local addresses and no others")
    options = parser.parse_args()
    enter_namespace(options.namespace)
    run(AiortcPeer, options)


if __name__ == "__main__":
    main()

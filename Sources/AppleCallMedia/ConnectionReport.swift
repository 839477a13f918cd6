import RealtimeMedia

/// What the framework measured: its objects with their numbers and texts, under the names of W3C webrtc-stats.
struct ConnectionReport: Hashable, Sendable {
  struct Entry: Hashable, Sendable {
    var type: String
    var numbers: [String: Double] = [:]
    var texts: [String: String] = [:]
  }

  /// By id.
  var entries: [String: Entry]

  /// What it says of the call's audio, in the terms of this package; what the framework does not count stays zero.
  var statistics: MediaStatistics {
    var statistics = MediaStatistics()
    let inbound = self.audio("inbound-rtp")
    let outbound = self.audio("outbound-rtp")
    let remote = self.audio("remote-inbound-rtp")
    self.note(inbound, in: &statistics)
    statistics.codec = self.codec(outbound?.texts["codecId"])
    statistics.reports.packetsSent = outbound.count("packetsSent")
    statistics.reports.bytesSent = outbound.count("bytesSent")
    statistics.sender.packets = Int(clamping: statistics.reports.packetsSent)
    statistics.sender.payloadBytes = Int(clamping: statistics.reports.bytesSent)
    statistics.sender.level = self.audio("media-source").share("audioLevel") ?? 0
    statistics.reports.roundTrip = remote.seconds("roundTripTime")
    statistics.reports.remoteJitter = remote.seconds("jitter")
    statistics.reports.remoteLoss = remote.share("fractionLost")
    statistics.reports.remoteLost = remote.map { Int(clamping: Optional($0).count("packetsLost")) }
    let remoteOutbound = self.audio("remote-outbound-rtp")
    statistics.reports.remotePacketsSent = remoteOutbound.map { Optional($0).count("packetsSent") }
    statistics.reports.remoteBytesSent = remoteOutbound.map { Optional($0).count("bytesSent") }
    statistics.pair = self.pair
    statistics.roundTrip = statistics.reports.roundTrip ?? statistics.pair?.roundTrip
    return statistics
  }

  private func note(_ inbound: Entry?, in statistics: inout MediaStatistics) {
    statistics.reports.jitter = inbound.seconds("jitter") ?? .zero
    statistics.reports.packetsReceived = inbound.count("packetsReceived")
    statistics.reports.packetsLost = inbound.count("packetsLost")
    statistics.reports.bytesReceived = inbound.count("bytesReceived")
    statistics.receiver.codec = self.codec(inbound?.texts["codecId"])
    statistics.receiver.packetsReceived = Int(clamping: statistics.reports.packetsReceived)
    statistics.receiver.bytesReceived = Int(clamping: statistics.reports.bytesReceived)
    statistics.receiver.packetsDiscarded = Int(clamping: inbound.count("packetsDiscarded"))
    statistics.receiver.played = inbound.count("totalSamplesReceived")
    statistics.receiver.concealed = inbound.count("concealedSamples")
    statistics.receiver.concealments = Int(clamping: inbound.count("concealmentEvents"))
    statistics.receiver.removed = inbound.count("removedSamplesForAcceleration")
    statistics.receiver.inserted = inbound.count("insertedSamplesForDeceleration")
    statistics.receiver.level = inbound.share("audioLevel") ?? 0
    // Both are sums over all samples that were played (webrtc-stats, jitterBufferDelay).
    statistics.receiver.delay = inbound.mean("jitterBufferDelay", of: "jitterBufferEmittedCount")
    statistics.receiver.targetDelay = inbound.mean("jitterBufferTargetDelay", of: "jitterBufferEmittedCount")
  }

  /// The one stream of audio in a direction; of several the least by id, so that it stays the same one.
  private func audio(_ type: String) -> Entry? {
    self.entries.filter { $0.value.type == type && $0.value.texts["kind"] == "audio" }
      .min { $0.key < $1.key }?.value
  }

  private func codec(_ id: String?) -> AudioCodec.Key? {
    guard let id, let codec = self.entries[id], let type = codec.texts["mimeType"] else { return nil }
    let rate = Optional(codec).count("clockRate")
    guard rate > 0, let name = type.split(separator: "/").last else { return nil }
    return AudioCodec.Key(
      String(name), clockRate: Int(clamping: rate),
      channels: max(1, Int(clamping: Optional(codec).count("channels"))))
  }

  private var pair: ICEAgent.CandidatePair? {
    let transport = self.entries.filter { $0.value.type == "transport" }.min { $0.key < $1.key }?.value
    guard
      let selected = transport?.texts["selectedCandidatePairId"].flatMap({ self.entries[$0] }),
      let local = self.candidate(selected.texts["localCandidateId"]),
      let remote = self.candidate(selected.texts["remoteCandidateId"])
    else { return nil }
    return ICEAgent.CandidatePair(
      local: local, remote: remote, isNominated: selected.numbers["nominated"] == 1,
      roundTrip: Optional(selected).seconds("currentRoundTripTime"))
  }

  private func candidate(_ id: String?) -> ICECandidate? {
    guard
      let entry = id.flatMap({ self.entries[$0] }),
      let kind = entry.texts["candidateType"].flatMap(ICECandidate.Kind.init(rawValue:))
    else { return nil }
    // The framework hides addresses that the other side hides.
    let text = entry.texts["address"] ?? ""
    return ICECandidate(
      foundation: entry.texts["foundation"] ?? "0", transport: entry.texts["protocol"] ?? "udp",
      priority: UInt32(clamping: Optional(entry).count("priority")),
      address: IPAddress(text).map { .ip($0) } ?? .name(text),
      port: UInt16(clamping: Optional(entry).count("port")), kind: kind)
  }
}

extension ConnectionReport.Entry? {
  /// Beyond this a number is no count.
  private static var largest: Double { 0x1p53 }

  fileprivate func number(_ name: String) -> Double? {
    self?.numbers[name].flatMap { $0.isFinite && abs($0) <= Self.largest ? $0 : nil }
  }

  fileprivate func count(_ name: String) -> Int64 { Int64(self.number(name) ?? 0) }

  fileprivate func share(_ name: String) -> Double? { self.number(name).map { max(0, min(1, $0)) } }

  /// Of a time in seconds; a day is beyond all reason.
  fileprivate func seconds(_ name: String) -> Duration? {
    self.number(name).flatMap { 0...86_400 ~= $0 ? .seconds($0) : nil }
  }

  fileprivate func mean(_ sum: String, of count: String) -> Duration {
    guard let sum = self.number(sum), let count = self.number(count), count >= 1 else { return .zero }
    let mean = sum / count
    return 0...86_400 ~= mean ? .seconds(mean) : .zero
  }
}

import CallSignaling
import Calls
import Foundation
import VoiceCore
import VoicePlatform
import VoiceTesting

/// One pair of clients through a number of outages, each drawn from the seed.
final class CallOutageRun {
  /// What is done to the links of a call.
  enum Outage: CaseIterable {
    case reset, finish, halfOpen, newPath, noPath, refusal, rejection, cutsWhileComingBack, longRefusal, media
  }

  /// How long calls are kept.
  static let reconnectTime: Duration = .seconds(8)
  /// A half-open link in a call is noticed within this time.
  static let noticeTime: Duration = .milliseconds(3_500)
  /// What a busy machine adds.
  static let slack: Duration = .seconds(3)

  private let number: Int
  private let near: OutagePhone
  private let far: OutagePhone
  private var random: SeededGenerator
  private var tally = OutageTally()
  private var call: Call?
  private let clock = MonotonicClock()

  init(number: Int, seed: UInt64, _ near: ImpairedLink, _ far: ImpairedLink) {
    self.number = number
    self.random = SeededGenerator(seed: seed)
    self.near = OutagePhone("caller\(number)", behind: near, seed: seed &+ 1_000)
    self.far = OutagePhone("callee\(number)", behind: far, seed: seed &+ 2_000)
  }

  func run(rounds: Int) async throws -> OutageTally {
    for phone in [self.near, self.far] { try phone.connect(reconnectTime: 8) }
    for round in 0..<rounds {
      guard let call = try await self.activeCall(round) else { break }
      try await self.outage(call, round)
    }
    for phone in [self.near, self.far] {
      if try await within(.seconds(15), { await phone.client.disconnected() }) == nil {
        self.tally.stuck.append("\(phone.name): it does not disconnect")
      }
      if !phone.client.calls.isEmpty { self.tally.stuck.append("\(phone.name): calls after disconnecting") }
      self.look(at: phone)
    }
    return self.tally
  }

  // MARK: One round

  /// The call that there is, or a new one; a call that fails by name meanwhile is placed again.
  private func activeCall(_ round: Int) async throws -> Call? {
    let limit = self.clock.now.advanced(by: .seconds(60))
    while self.clock.now < limit {
      if let call = self.call, call.callState.isConsideredActive, let other = self.far.incoming,
        other.callState.isConsideredActive
      {
        return call
      }
      // The other side of a call that is over may not know yet.
      self.call?.hangup()
      let (near, far) = (self.near, self.far)
      let placed = try await within(.seconds(30)) { () -> Call? in
        do {
          try await far.client.ready()
          let call = try await near.client.call(far.name)
          try await call.answered()
          return call
        } catch is VoiceFailure {
          return nil
        } catch is TxError {
          return nil
        }
      }
      guard let placed else {
        self.tally.stuck.append("pair \(self.number), round \(round): no call could be placed")
        return nil
      }
      self.call = placed
    }
    self.tally.stuck.append("pair \(self.number), round \(round): no call was answered")
    return nil
  }

  private func outage(_ call: Call, _ round: Int) async throws {
    let outage = Outage.allCases[Int(self.random.next() % UInt64(Outage.allCases.count))]
    let phone = self.random.next() % 3 == 0 ? self.far : self.near
    let place = "pair \(self.number), round \(round), \(outage) at \(phone.name)"
    self.tally.outages += 1
    self.tally.kinds["\(outage)", default: 0] += 1
    let mark = phone.entries.count
    let began = self.clock.now

    try await self.begin(outage, at: phone)
    if outage != .media {
      let noticed = try await within(Self.noticeTime + Self.slack) {
        await phone.event(from: mark) { event in
          if case .socketDisconnected = event { true } else { false }
        }
      }
      if let instant = noticed ?? nil {
        self.tally.slowestNotice = max(self.tally.slowestNotice, began.duration(to: instant))
      } else {
        self.tally.late.append("\(place): the outage was not noticed")
      }
    }
    self.touch(call)
    try await self.end(outage, at: phone)

    for (side, leg) in [(self.near, call), (self.far, self.far.incoming)] {
      guard let leg else { continue }
      try await self.settle(leg, of: side, place)
    }
    let isKept = call.callState.isConsideredActive && self.far.incoming?.callState.isConsideredActive == true
    self.tally.kept += isKept ? 1 : 0
  }

  private func begin(_ outage: Outage, at phone: OutagePhone) async throws {
    switch outage {
    case .reset: await phone.link.cutAll(.reset)
    case .finish: await phone.link.cutAll(.finish)
    case .halfOpen: await phone.link.cutAll(.silence)
    case .newPath: phone.paths.change(to: self.path)
    case .noPath: phone.paths.change(to: NetworkPath(interfaces: []))
    case .refusal, .longRefusal:
      await phone.link.refuseConnections()
      await phone.link.cutAll(.reset)
    case .rejection:
      await phone.link.setPlan(LinkPlan(everyConnection: .init(isRejected: true)))
      await phone.link.cutAll(.reset)
    case .cutsWhileComingBack:
      let count = 1 + Int(self.random.next() % 3)
      let first = phone.link.connections.count
      let cuts = LinkPlan.randomCuts(seed: self.random.next(), connections: count, afterBytes: 0...4_000)
      var plan = LinkPlan()
      for (number, connection) in cuts.connections { plan.connections[first + number] = connection }
      await phone.link.setPlan(plan)
      await phone.link.cutAll(.reset)
    case .media:
      let call = phone === self.near ? self.call : phone.incoming
      guard let id = call?.callInfo?.callId else { return }
      let event: MediaPeerEvent = self.random.next() % 2 == 0 ? .failed : .interrupted
      phone.media.peer(of: CallID(id.uuidString.lowercased()))?.report(event)
    }
  }

  private var path: NetworkPath {
    NetworkPath(interfaces: [.init(name: "test\(self.number)", addresses: ["192.0.2.\(self.number % 250)"])])
  }

  private func end(_ outage: Outage, at phone: OutagePhone) async throws {
    switch outage {
    case .reset, .finish, .halfOpen, .newPath, .media: break
    case .noPath:
      try await self.wait(.milliseconds(Int(self.random.next() % 3_000)))
      phone.paths.change(to: self.path)
    case .refusal:
      try await self.wait(.milliseconds(Int(self.random.next() % 3_000)))
      try await phone.link.acceptConnections()
    case .longRefusal:
      try await self.wait(Self.reconnectTime + .milliseconds(500))
      try await phone.link.acceptConnections()
      // It would wait for its next try, up to 15 s.
      phone.paths.change(to: self.path)
    case .rejection:
      try await self.wait(.milliseconds(Int(self.random.next() % 2_000)))
      await phone.link.setPlan(LinkPlan())
    case .cutsWhileComingBack:
      try await self.wait(.milliseconds(Int(self.random.next() % 1_500)))
      await phone.link.setPlan(LinkPlan())
    }
  }

  private func wait(_ duration: Duration) async throws {
    try await self.clock.sleep(until: self.clock.now.advanced(by: duration), tolerance: nil)
  }

  /// What people do while the line is dead.
  private func touch(_ call: Call) {
    switch self.random.next() % 10 {
    case 0: call.hangup()
    case 1: self.far.incoming?.hangup()
    case 2, 3: call.dtmf(dtmf: "12#")
    case 4: call.toggleHold()
    case 5: call.isMuted ? call.unmuteAudio() : call.muteAudio()
    default: break
    }
  }

  // MARK: Judging

  /// A call is settled when the gateway confirms something about it, or when it is over with its reason.
  private func settle(_ call: Call, of phone: OutagePhone, _ place: String) async throws {
    let limit = Self.reconnectTime + .seconds(10) + Self.slack
    let isSettled = try await within(limit) { () -> Bool in
      while true {
        if case .DONE = call.callState { return true }
        do {
          try await call.setHeld(!call.isHeld)
          try await call.setHeld(false)
          return true
        } catch is VoiceFailure {
          // By name: the call goes on or is over.
          await Task.yield()
        }
      }
    }
    if isSettled != true {
      self.tally.stuck.append(
        "\(place): the call of \(phone.name) is \(call.callState.value), ready \(phone.client.isRegistered)")
    }
  }

  /// Every end of the phone's calls came once, in time and with a reason.
  private func look(at phone: OutagePhone) {
    var troubledSince: [ObjectIdentifier: VoiceInstant] = [:]
    var ends: [ObjectIdentifier: Int] = [:]
    for entry in phone.entries {
      guard case .callStateUpdated(let call, let state) = entry.event else { continue }
      let id = ObjectIdentifier(call)
      switch state {
      case .RECONNECTING, .DROPPED: troubledSince[id] = troubledSince[id] ?? entry.at
      case .NEW, .CONNECTING, .RINGING, .ACTIVE, .HELD: troubledSince[id] = nil
      case .DONE(let reason):
        ends[id, default: 0] += 1
        self.tally.ended += 1
        self.tally.causes[reason?.failure?.code.rawValue ?? reason?.cause ?? "none", default: 0] += 1
        if let since = troubledSince[id],
          since.duration(to: entry.at) > Self.reconnectTime + Self.slack
        {
          self.tally.late.append("\(phone.name): a call ended after \(since.duration(to: entry.at))")
        }
        guard let reason, reason.hangupCause != nil else {
          self.tally.untyped.append("\(phone.name): an end without cause")
          continue
        }
        let isWanted = reason.origin == .local || reason.hangupCause == .normalClearing
        if !isWanted, reason.failure == nil {
          self.tally.untyped.append("\(phone.name): \(reason.cause ?? "none") has no failure")
        }
      }
    }
    for count in ends.values where count > 1 { self.tally.doubleEnds.append("\(phone.name): \(count) ends") }
  }
}

import CallMedia
import Foundation
import RealtimeMedia
import Synchronization
import VoiceCore
import VoiceTesting

/// The other side of a call: an independent media peer, driven as Tests/Peers/README.md says.
final class RemoteMedia: Sendable {
  struct Refused: Error, CustomStringConvertible {
    var description: String
  }

  enum Kind: String, Sendable {
    case aiortc = "Tests/Peers/rtc_aiortc.py"
    case chromium = "Tests/Peers/rtc_chromium.py"
  }

  let peer: PeerProcess
  private let commands = Mutex(0)

  private init(peer: PeerProcess) { self.peer = peer }

  /// Runs a body with a peer that sends 700 Hz.
  static func with<Result>(
    _ kind: Kind, _ arguments: [String] = [], isolation: isolated (any Actor)? = #isolation,
    _ body: (RemoteMedia) async throws -> Result
  ) async throws -> Result {
    try await withPeerProcess(
      kind.rawValue, arguments: ["--tone", "700", "--report", "0"] + arguments
    ) { peer in
      for await event in peer.events {
        if event.name == "ready" { break }
        if event.name == "failed" { throw Refused(description: event.line) }
      }
      return try await body(RemoteMedia(peer: peer))
    }
  }

  /// Gives a command and waits for the event that answers it.
  @discardableResult
  func ask(_ name: String, _ fields: [String: any Sendable] = [:], for event: String) async throws
    -> PeerEvent
  {
    let id = self.commands.withLock { count in
      count += 1
      return count
    }
    let command = fields.merging(["do": name, "id": id]) { $1 }
    let line = try JSONSerialization.data(withJSONObject: command)
    self.peer.send(String(decoding: line, as: UTF8.self))
    for await found in self.peer.events where found["id"]?.int == id {
      if found.name == event { return found }
      if found.name == "failed" { throw Refused(description: found.line) }
    }
    throw Refused(description: "The peer ended before it answered \(name): \(self.peer.errorOutput)")
  }

  /// Makes an offer: `offer`, `hold`, `resume` or `restart`.
  func offer(_ name: String = "offer", _ fields: [String: any Sendable] = [:]) async throws -> String {
    try await self.ask(name, fields, for: "offer")["sdp"]?.string ?? ""
  }

  func answer(_ offer: String, trickle: Bool = false) async throws -> String {
    let fields: [String: any Sendable] = trickle ? ["sdp": offer, "trickle": true] : ["sdp": offer]
    return try await self.ask("answer", fields, for: "answer")["sdp"]?.string ?? ""
  }

  func accept(_ answer: String) async throws {
    try await self.ask("accept", ["sdp": answer], for: "accepted")
  }

  /// Waits until it hears half a second of a tone; 0 for silence.
  func hears(_ frequency: Int, share: Double = 0.9) async throws {
    try await self.ask("listen", ["hz": frequency, "share": share, "timeout": 30], for: "heard")
  }

  func report() async throws -> PeerEvent { try await self.ask("report", for: "report") }

  /// Waits for a state of the connection.
  func state(_ state: String, of kind: String = "connection") async throws {
    _ = try await self.peer.event("state") { $0["kind"]?.string == kind && $0["state"]?.string == state }
  }
}

/// What both sides of a call do to agree.
extension RemoteMedia {
  /// Our side offers.
  func called(by own: OwnMedia, _ direction: MediaDirection? = nil, restartingICE: Bool = false) async throws
  {
    let offer = try await own.session.makeOffer(direction, restartingICE: restartingICE)
    try await own.session.receivedAnswer(try await self.answer(offer))
  }

  /// The peer offers: `offer`, `hold`, `resume` or `restart`.
  func calls(_ own: OwnMedia, _ name: String = "offer", _ fields: [String: any Sendable] = [:]) async throws {
    try await self.accept(try await own.session.receivedOffer(try await self.offer(name, fields)))
  }

  /// Both hear the other's tone.
  func hearEachOther(_ own: OwnMedia, share: Double = 0.9) async throws {
    async let far: Void = self.hears(440, share: share)
    async let near: Void = own.hears(700, share: share)
    _ = try await (far, near)
  }
}

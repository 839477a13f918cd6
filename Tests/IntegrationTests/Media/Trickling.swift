import CallMedia
import VoiceTesting

/// Passes candidates on as they come, both ways, while a body runs, and until there are no more.
struct Trickling {
  let own: OwnMedia
  let peer: RemoteMedia

  func during<Result>(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
  ) async throws -> Result {
    let (own, peer) = (self.own, self.peer)
    let incoming = Task {
      for await event in peer.peer.events where event.name == "candidate" {
        let line = event["candidate"]?.string ?? ""
        own.session.addRemoteCandidate(line.isEmpty ? nil : line)
        if line.isEmpty { break }
      }
    }
    let outgoing = Task {
      for await (event, _) in own.timedEvents() {
        guard case .candidateFound(let line) = event else { continue }
        try await peer.ask("candidate", ["candidate": line ?? "", "mid": "0"], for: "candidate-added")
        if line == nil { break }
      }
    }
    defer {
      incoming.cancel()
      outgoing.cancel()
    }
    let result = try await body()
    let isOver = try await Deadline.within(.seconds(30)) {
      await incoming.value
      try await outgoing.value
      return true
    }
    guard isOver ?? false else { throw OwnMedia.TooLate(description: "Candidates did not end.") }
    return result
  }
}

// What is printed or logged shows no password of ICE.

extension AudioNegotiator: CustomStringConvertible, CustomReflectable {
  public var description: String {
    let agreement = self.agreed.map { "agreed on \($0.codecs.map(\.key.encoding).joined(separator: ", "))" }
    return
      "negotiator, \(agreement ?? "without an agreement")\(self.awaitsAnswer ? ", with an open offer" : "")"
  }
  public var customMirror: Mirror {
    Mirror(self, children: ["options": self.options, "agreed": self.agreed as Any, "source": self.source])
  }
}

extension AudioNegotiator.Transport: CustomStringConvertible, CustomReflectable {
  public var description: String { "transport of \(self.iceUserFragment)" }
  public var customMirror: Mirror {
    Mirror(
      self,
      children: [
        "iceUserFragment": self.iceUserFragment, "fingerprint": self.fingerprint,
        "candidates": self.candidates,
        "hasAllCandidates": self.hasAllCandidates,
      ])
  }
}

extension NegotiatedAudio.Remote: CustomStringConvertible, CustomReflectable {
  public var description: String { "transport of \(self.iceUserFragment)" }
  public var customMirror: Mirror {
    Mirror(
      self,
      children: [
        "iceUserFragment": self.iceUserFragment, "iceOptions": self.iceOptions, "isICELite": self.isICELite,
        "candidates": self.candidates, "hasAllCandidates": self.hasAllCandidates,
        "fingerprints": self.fingerprints, "ssrcs": self.ssrcs, "packetTime": self.packetTime as Any,
        "maximumPacketTime": self.maximumPacketTime as Any,
      ])
  }
}

extension AudioConnection.Applied: CustomStringConvertible, CustomReflectable {
  var description: String { "transport of \(self.userFragment)" }
  var customMirror: Mirror {
    Mirror(self, children: ["userFragment": self.userFragment, "role": self.role])
  }
}

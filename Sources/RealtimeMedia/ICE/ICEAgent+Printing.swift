// What is printed or logged shows no password.

extension ICEAgent.Server: CustomStringConvertible, CustomReflectable {
  public var description: String { "\(self.kind) at \(self.address) over \(self.transport)" }
  public var customMirror: Mirror {
    Mirror(self, children: ["kind": self.kind, "address": self.address, "transport": self.transport])
  }
}

extension ICEAgent.Credentials: CustomStringConvertible, CustomReflectable {
  public var description: String { "credentials of \(self.userFragment)" }
  public var customMirror: Mirror { Mirror(self, children: ["userFragment": self.userFragment]) }
}

extension TURNClient.Configuration: CustomStringConvertible, CustomReflectable {
  public var description: String { "TURN over \(self.isStream ? "a stream" : "UDP")" }
  public var customMirror: Mirror { Mirror(self, children: ["isStream": self.isStream]) }
}

extension TURNClient: CustomStringConvertible, CustomReflectable {
  public var description: String { "TURN client, \(self.state)" }
  public var customMirror: Mirror { Mirror(self, children: ["state": self.state]) }
}

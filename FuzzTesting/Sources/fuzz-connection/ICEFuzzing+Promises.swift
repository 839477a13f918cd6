import FuzzSupport
import RealtimeMedia

extension ICEFuzzing {
  /// Takes the outputs and compares them to what the agent promises.
  ///
  /// - Returns: How many datagrams there were.
  @discardableResult
  mutating func takeOutputs() -> Int {
    var count = 0
    var datagrams = 0
    while let output = self.agent.poll() {
      count += 1
      require(!self.hasClosed, "an agent that is closed is quiet")
      switch output {
      case .send(let bytes, let id, let remote):
        datagrams += 1
        require(self.sockets[id.rawValue] != nil, "datagrams go out on sockets that are there")
        require(!bytes.isEmpty && bytes.count <= 2000, "a datagram has a size that can be sent")
        require(remote.port != 0, "datagrams go somewhere")
        self.remember(bytes, .socket(id, remote))
      case .openStream(let id, _):
        require(id.rawValue > self.lastStream, "the number of a stream is new")
        self.lastStream = id.rawValue
        self.streams[id.rawValue] = false
      case .sendStream(let bytes, let id):
        require(self.streams[id.rawValue] != nil && !bytes.isEmpty, "bytes go out on streams that are there")
        self.remember(bytes, .stream(id))
      case .closeStream(let id):
        require(self.streams.removeValue(forKey: id.rawValue) != nil, "a stream is closed once")
      case .stateChanged(let state):
        require(state != self.state, "a state that is told is another one")
        self.state = state
      case .candidate, .gatheringEnded, .selected, .received, .warned: break
      }
    }
    require(count <= 2000, "an event has few outputs")
    self.check()
    return datagrams
  }

  private mutating func remember(_ bytes: [UInt8], _ way: Request.Way) {
    self.requests.append(Request(bytes: bytes, way: way))
    self.requests.removeFirst(max(0, self.requests.count - 32))
  }

  private func check() {
    require(self.agent.state == self.state, "each change of the state is told")
    switch self.state {
    case .failed: require(self.agent.failure != nil, "who has failed says why")
    case .closed: break
    case .new, .checking, .connected, .completed, .disconnected:
      require(self.agent.failure == nil, "who has not failed does not say so")
    }
    require((self.agent.sendingPath != nil) == (self.agent.selectedPair != nil), "a path has a pair")
    switch self.state {
    case .new, .checking, .failed, .closed:
      require(self.agent.sendingPath == nil, "there is a path only while there is a connection")
    case .connected, .completed: require(self.agent.sendingPath != nil, "a connection has a path")
    case .disconnected: break
    }
    require(self.agent.signalledCandidates.count <= 100, "candidates do not pile up")
    if case .direct(let id, _) = self.agent.sendingPath {
      require(self.sockets[id.rawValue] != nil, "the path begins at a socket that is there")
    }
    let credentials = self.agent.localCredentials
    require(credentials.userFragment.count == 8 && credentials.password.count == 24, "credentials are strong")
  }
}

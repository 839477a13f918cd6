import FuzzSupport
import RealtimeMedia
import VoiceCore

extension CallFuzzing {
  private static let tone = (0..<960).map { Int16(($0 % 96) * 200 - 9600) }

  /// What most calls begin with, so that a script need not find it.
  func connect() {
    for end in self.ends {
      for id in 0..<2 where end.sockets[id] == nil { self.addSocket(end, id) }
      end.connection.socketsAdded(at: self.time.now)
      self.takeOutputs(end)
    }
    self.makeOffer(self.ends[0], nil, restartingICE: false)
    guard let offer = self.ends[0].offer else { return }
    self.receiveOffer(self.ends[1], offer)
    guard let answer = self.ends[1].answer else { return }
    self.receiveAnswer(self.ends[0], answer, isFinal: true)
    self.pause(.seconds(2), delivers: true)
  }

  /// 20 ms in which both ends talk and listen.
  func talk() {
    self.pause(.milliseconds(20), delivers: true)
    let isMuted = self.script.choice(4) == 1
    for end in self.ends {
      end.connection.sendAudio(isMuted ? nil : Self.tone[...], at: self.time.now) { packet, path in
        require(end.connection.state != .closed, "nothing is sent after the end")
        require(end.connection.agreed?.direction.sends == true, "who may not send is quiet")
        require(packet.count <= 1500, "a packet has a size that can be sent")
        if case .direct(let id, let remote) = path { self.send(packet, end, id, remote) }
      }
      self.takeOutputs(end)
    }
    self.deliver()
    for end in self.ends { self.listen(end, 960) }
  }

  func listen(_ end: End, _ count: Int) {
    let concealed = end.connection.readAudio(count, into: &end.samples, at: self.time.now)
    require(end.samples.count == count, "there is as much as was asked for")
    require(0...count ~= concealed, "what was made up is part of it")
    self.takeOutputs(end)
  }
}

import FuzzSupport
import RealtimeMedia
import VoiceCore

extension CallFuzzing {
  // MARK: Descriptions

  func makeOffer(_ end: End, _ direction: MediaDirection?, restartingICE: Bool) {
    let before = end.connection.agreed
    do {
      let text = try end.connection.makeOffer(direction, restartingICE: restartingICE, at: self.time.now)
      self.checkDescription(text, end)
      end.offer = text
    } catch { self.checkFailure(error, end) }
    require(end.connection.agreed == before, "an offer agrees on nothing")
    self.takeOutputs(end)
  }

  func repeatOffer(_ end: End) {
    let before = end.connection.agreed
    do {
      let text = try end.connection.repeatOffer()
      self.checkDescription(text, end)
      end.offer = text
    } catch { self.checkFailure(error, end) }
    require(end.connection.agreed == before, "an offer agrees on nothing")
    self.takeOutputs(end)
  }

  func receiveOffer(_ end: End, _ text: String) {
    let before = end.connection.agreed
    do {
      let answer = try end.connection.receivedOffer(text, at: self.time.now)
      self.checkDescription(answer, end)
      end.answer = answer
      require(end.connection.agreed?.codecs.isEmpty == false, "an agreement has a codec")
    } catch {
      self.checkFailure(error, end)
      require(end.connection.agreed == before, "what is refused changes nothing")
    }
    self.takeOutputs(end)
  }

  func receiveAnswer(_ end: End, _ text: String, isFinal: Bool) {
    let before = end.connection.agreed
    do {
      try end.connection.receivedAnswer(text, isFinal: isFinal, at: self.time.now)
    } catch {
      self.checkFailure(error, end)
      require(end.connection.agreed == before, "what is refused changes nothing")
    }
    self.takeOutputs(end)
  }

  private func checkDescription(_ text: String, _ end: End) {
    require(!end.isClosed, "who has closed describes nothing")
    let read = try? SessionDescription(parsing: text)
    require(read != nil && read?.text == text, "a description of ours can be read")
    require(read?.media.isEmpty == false, "a description has a medium")
  }

  private func checkFailure(_ failure: VoiceFailure, _ end: End) {
    require(!failure.message.isEmpty, "a failure says something")
    switch failure.code {
    case .callNotFound: require(end.isClosed, "only who has closed is not there")
    case .callMediaUnacceptable, .callMediaFailed: break
    default: require(false, "a description fails in a way that is documented")
    }
  }

  // MARK: Outputs

  func takeOutputs(_ end: End) {
    var count = 0
    while let output = end.connection.poll() {
      count += 1
      require(!end.isClosed, "who has closed is quiet")
      self.take(output, end)
    }
    require(count <= 4000, "an event has few outputs")
    let state = end.connection.state
    require(state == end.told, "each change of the state is told")
    if state == .failed { require(end.reasons > 0, "who has failed says why") }
    if state == .connected {
      require(
        end.connection.agreed != nil && end.connection.selectedPair != nil,
        "a connection has an agreement and a pair")
    }
    require(
      end.connection.nextWake(at: self.time.now) == nil || !end.isClosed, "who has closed waits for nothing")
  }

  private func take(_ output: AudioConnection.Output, _ end: End) {
    switch output {
    case .send(let bytes, let id, let remote):
      require(end.sockets[id.rawValue] != nil, "datagrams go out on sockets that are there")
      require(!bytes.isEmpty && bytes.count <= 2000, "a datagram has a size that can be sent")
      self.send(bytes, end, id, remote)
    case .openStream(let id, _):
      require(id.rawValue > end.lastStream, "the number of a stream is new")
      end.lastStream = id.rawValue
      end.streams.insert(id.rawValue)
    case .sendStream(let bytes, let id):
      require(end.streams.contains(id.rawValue), "bytes go out on streams that are there")
      end.requests.append((bytes, id))
      end.requests.removeFirst(max(0, end.requests.count - 16))
    case .closeStream(let id):
      require(end.streams.remove(id.rawValue) != nil, "a stream is closed once")
    case .tell(let event): self.take(event, end)
    }
  }

  private func take(_ event: AudioConnection.Event, _ end: End) {
    switch event {
    case .stateChanged(let state):
      // The end of a restart is told by the state that it leads to, also if it was that before.
      require(state != end.told || state == .connected, "a state that is told is another one")
      require(!end.isClosing || state == .closed, "who closes loses no way")
      end.told = state
    case .candidateFound(let candidate):
      require(
        (try? ICECandidate(parsing: candidate.text)) == candidate, "a candidate is read as what was written")
      end.candidates.append(candidate.text)
      end.candidates.removeFirst(max(0, end.candidates.count - 100))
    case .failed(let failure):
      require(!failure.message.isEmpty, "a failure says something")
      end.reasons += 1
    case .remoteClosed: end.reasons += 1
    case .gatheringEnded, .keyPressed, .warned, .decodingFailed, .mediaMissing, .qualityChanged: break
    }
  }

  func close(_ end: End) {
    self.takeOutputs(end)
    end.isClosing = true
    end.connection.close(at: self.time.now)
    self.takeOutputs(end)
    end.isClosed = true
    end.sockets = [:]
    require(end.connection.state == .closed, "who closes has closed")
    var datagram: [UInt8] = [22, 1, 2, 3]
    end.connection.received(
      &datagram, on: .init(rawValue: 0), from: self.address(end, 0), at: self.time.now)
    end.connection.timePassed(at: self.time.now)
    end.connection.checkNow(at: self.time.now)
    self.makeOffer(end, nil, restartingICE: true)
    self.listen(end, 480)
    self.takeOutputs(end)
  }
}

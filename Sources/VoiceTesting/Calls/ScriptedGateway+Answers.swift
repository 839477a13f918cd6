import CallSignaling
import Synchronization
import VoiceCore

/// What the gateway answers.
extension ScriptedGateway {
  func received(_ bytes: [UInt8], on link: Int) {
    guard self.isListening(link) else { return }
    let frame: Frame<ClientRequest>
    do throws(FrameError) {
      frame = try self.codec.decode(ClientRequest.self, from: bytes)
    } catch {
      return self.act { state in
        guard let id = error.id, let target = state.links[link] else { return [] }
        let answer = self.encode(error.response, id, state)
        return [{ target.send(answer) }]
      }
    }
    switch frame.content {
    case .request(let request, let id):
      // At once, so that who has waited for a request finds what it did.
      self.act { state in
        let waiters = Self.record(request, bytes, &state)
        return [{ for waiter in waiters { waiter.resume(returning: request) } }]
          + self.answer(request, id, link, &state)
      }
    case .result(let result, _):
      self.state.withLock { state in
        state.acknowledgements += 1
        state.results.append(result)
      }
    case .error: self.state.withLock { $0.acknowledgements += 1 }
    case .debugReport(let report, _): self.state.withLock { $0.reports.append(report) }
    case .speedTest: break
    }
  }

  private static func record(
    _ request: ClientRequest, _ bytes: [UInt8], _ state: inout State
  ) -> [CheckedContinuation<ClientRequest, any Error>] {
    state.requests.append(request)
    state.frames.append(bytes)
    let method = request.method
    let count = state.requests.count { $0.method == method }
    let due = state.waiters.filter { $0.method == method && $0.count == count }
    state.waiters.removeAll { $0.method == method && $0.count == count }
    return due.map { $0.continuation }
  }

  private func answer(
    _ request: ClientRequest, _ id: RPCID?, _ link: Int, _ state: inout State
  ) -> [@Sendable () -> Void] {
    guard let target = state.links[link] else { return [] }
    let reply = Self.nextReply(to: request.method, &state)
    @Sendable func sending(_ frames: [[UInt8]]) -> [@Sendable () -> Void] {
      frames.map { frame in { target.send(frame) } }
    }
    switch reply {
    case .standard:
      return sending(self.standard(request, id, link, &state)) + self.following(request, link, &state)
    case .drop: return []
    case .error(let error): return id.map { [self.encode(error, $0, state)] }.map(sending) ?? []
    case .wrongID:
      return sending(self.standard(request, .integer(999_999_999), link, &state))
        + self.following(request, link, &state)
    case .twice:
      let all = self.standard(request, id, link, &state)
      return sending(all + all) + self.following(request, link, &state)
    case .reversed:
      return sending(self.standard(request, id, link, &state).reversed())
        + self.following(request, link, &state)
    case .raw(let text): return sending([Array(text.utf8)])
    case .delayed(let delay):
      let all = self.standard(request, id, link, &state)
      let next = self.following(request, link, &state)
      return [{ self.later(delay, on: link) { sending(all) + next } }]
    case .cut:
      state.links[link] = nil
      return [target.cut]
    case .cutAfterwards:
      let all = self.standard(request, id, link, &state)
      state.links[link] = nil
      return sending(all) + [target.cut]
    case .close(let code):
      state.links[link] = nil
      return [{ target.close(code) }]
    case .silence:
      state.links[link]?.isSilent = true
      return []
    }
  }

  private static func nextReply(to method: SignalingMethod, _ state: inout State) -> Reply {
    guard let replies = state.script.replies[method], let first = replies.first else { return .standard }
    state.script.replies[method] = Array(replies.dropFirst())
    return first
  }

  /// Does something after a time, if the connection is still there; a wait of a script ends with the test's clock.
  private func later(
    _ delay: Duration, on link: Int, _ body: @escaping @Sendable () -> [@Sendable () -> Void]
  ) {
    let deadline = self.clock.now.advanced(by: delay)
    Task { [weak self, clock] in
      do {
        try await clock.sleep(until: deadline, tolerance: nil)
      } catch {
        return
      }
      guard let self, self.isListening(link) else { return }
      self.act { _ in body() }
    }
  }

  private func encode(_ error: RPCError, _ id: RPCID, _ state: State) -> [UInt8] {
    SignalingCodec(dialect: state.script.dialect).encode(error, id: id, voiceSDKID: state.script.voiceSDKID)
  }

  private func encode(_ result: ServerResult, _ id: RPCID, _ state: State) -> [UInt8] {
    SignalingCodec(dialect: state.script.dialect).encode(result, id: id, voiceSDKID: state.script.voiceSDKID)
  }

  /// The answer as documented, with what a server sends at once after it.
  private func standard(_ request: ClientRequest, _ id: RPCID?, _ link: Int, _ state: inout State)
    -> [[UInt8]]
  {
    let session = state.links[link]?.sessionID ?? ""
    var result: ServerResult?
    switch request {
    case .login(let login):
      if let refusal = Self.refusal(of: login.credentials, state) {
        return id.map { [self.encode(refusal, $0, state)] } ?? []
      }
      return self.loggedIn(login.sessionID, id, link, &state)
    case .anonymousLogin(let login): return self.loggedIn(login.sessionID, id, link, &state)
    case .gatewayState:
      let answers = state.script.gatewayStates
      let answer = answers.first ?? .registered
      if answers.count > 1 { state.script.gatewayStates.removeFirst() }
      guard let answer else { return [] }
      result = .gatewayState(GatewayStateReport(answer), sessionID: session)
    case .invite(let message):
      state.calls[message.dialog.callID] = KnownCall(sessionID: session)
      result = .call(CallResult(callID: message.dialog.callID, message: "CALL CREATED", sessionID: session))
    case .answer(let message), .attach(let message):
      guard state.calls[message.dialog.callID] != nil else { return self.noSuchCall(id, state) }
      state.calls[message.dialog.callID]?.isEstablished = true
      result = .call(CallResult(callID: message.dialog.callID, message: "CALL ANSWERED", sessionID: session))
    case .bye(let message):
      guard state.calls.removeValue(forKey: message.callID) != nil else { return self.noSuchCall(id, state) }
      result = .bye(ByeResult(callID: message.callID, cause: message.hangupCause))
    case .info(let message):
      if let call = message.callID, state.calls[call] == nil { return self.noSuchCall(id, state) }
      result = .sent
    case .modify(let message):
      guard state.calls[message.callID] != nil else { return self.noSuchCall(id, state) }
      result = .modify(self.modified(message, session, &state))
    case .candidate, .endOfCandidates, .ringingAck, .attachCalls, .disablePush, .aiConversation, .ping,
      .subscribe,
      .unsubscribe, .broadcast:
      result = .other(["message": "OK"])
    case .echo(let object): result = .other(.object(object))
    case .unknown:
      return id.map { [self.encode(RPCError(code: .methodNotFound, message: "Invalid Method"), $0, state)] }
        ?? []
    }
    guard let result, let id else { return [] }
    return [self.encode(result, id, state)]
  }

  private func noSuchCall(_ id: RPCID?, _ state: State) -> [[UInt8]] {
    id.map { [self.encode(RPCError.callDoesNotExist(), $0, state)] } ?? []
  }

  private static func refusal(of credentials: Credentials, _ state: State) -> RPCError? {
    guard let users = state.script.users else { return nil }
    let refused = RPCError(code: .authenticationFailed, message: "Authentication Failure")
    switch credentials {
    case .password(let user, let password): return users[user] == password.value ? nil : refused
    case .token(let token): return users.values.contains(token.value) ? nil : refused
    }
  }

  private func loggedIn(_ wanted: String?, _ id: RPCID?, _ link: Int, _ state: inout State) -> [[UInt8]] {
    let isNew = state.links[link]?.sessionID == nil
    let session = wanted ?? "scripted-session-\(link)"
    state.links[link]?.sessionID = session
    if !state.script.remembersCalls { state.calls = [:] }
    let known = state.calls.filter { $0.value.sessionID == session }.keys.sorted { $0.text < $1.text }
    var frames = id.map { [self.encode(.login(LoginResult(sessionID: session)), $0, state)] } ?? []
    guard isNew else { return frames }
    if state.script.dialect.hasGatewayState {
      let ready = ClientReady(reattachedSessions: state.script.namesKnownCalls ? known : nil)
      frames.append(self.frame(.clientReady(ready), &state))
    }
    return frames
  }

  private func modified(_ message: ModifyRequest, _ session: String, _ state: inout State) -> ModifyResult {
    var hold = state.calls[message.callID]?.hold ?? .active
    switch message.action {
    case .hold: hold = .held
    case .unhold: hold = .active
    case .toggleHold: hold = hold == .held ? .active : .held
    case .updateMedia:
      return ModifyResult(
        callID: message.callID, action: .updateMedia, sdp: self.describe(&state), sessionID: session)
    case .transfer, .replace, .unknown: break
    }
    state.calls[message.callID]?.hold = hold
    return ModifyResult(callID: message.callID, action: message.action, holdState: hold, sessionID: session)
  }

  // MARK: What follows

  private func following(_ request: ClientRequest, _ link: Int, _ state: inout State)
    -> [@Sendable () -> Void]
  {
    switch request {
    case .invite(let message):
      let steps = state.script.afterInvite
      return [{ self.play(steps[...], message.dialog.callID, on: link) }]
    case .gatewayState where state.script.gatewayStates.first != .some(nil),
      .login where !state.script.dialect.hasGatewayState:
      return self.attaching(link, &state)
    default: return []
    }
  }

  /// The server offers the calls of an earlier connection again (telnyx.md section 2.2, attach).
  private func attaching(_ link: Int, _ state: inout State) -> [@Sendable () -> Void] {
    guard let target = state.links[link], let session = target.sessionID, !target.hasAttached else {
      return []
    }
    state.links[link]?.hasAttached = true
    let calls = state.calls.filter { $0.value.sessionID == session && $0.value.isEstablished }
    return calls.keys.sorted { $0.text < $1.text }.map { id in
      let frame = self.frame(.attach(ServerCallMessage(callID: id, sdp: self.describe(&state))), &state)
      return { target.send(frame) }
    }
  }

  private func play(_ steps: ArraySlice<Step>, _ id: CallID, on link: Int) {
    guard let step = steps.first else { return }
    let rest = steps.dropFirst()
    if case .wait(let delay) = step {
      return self.later(delay, on: link) { [{ self.play(rest, id, on: link) }] }
    }
    self.act { state in
      guard let target = state.links[link], !target.isSilent, state.calls[id] != nil else { return [] }
      let frame = self.frame(of: step, id, &state)
      return [{ target.send(frame) }, { self.play(rest, id, on: link) }]
    }
  }

  private func frame(of step: Step, _ id: CallID, _ state: inout State) -> [UInt8] {
    switch step {
    case .ringing: return self.frame(.ringing(ServerCallMessage(callID: id)), &state)
    case .media: return self.frame(.media(ServerCallMessage(callID: id, sdp: self.describe(&state))), &state)
    case .answer:
      state.calls[id]?.isEstablished = true
      return self.frame(.answer(ServerCallMessage(callID: id, sdp: self.describe(&state))), &state)
    case .answerWithoutSDP:
      state.calls[id]?.isEstablished = true
      return self.frame(.answer(ServerCallMessage(callID: id)), &state)
    case .bye(let cause, let sipCode):
      state.calls[id] = nil
      return self.frame(.bye(ByeMessage(callID: id, cause: cause, sipCode: sipCode)), &state)
    case .raw(let text): return Array(text.replacing("%CALL%", with: id.text).utf8)
    case .wait: return []
    }
  }
}

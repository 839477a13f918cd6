import CallSignaling
public import Foundation
import VoiceCore

extension TxClient {
  /// Places a call.
  ///
  /// A call that is placed before the registration is there waits for it.
  ///
  /// - Parameters:
  ///   - callerName: The name that the other side sees.
  ///   - callerNumber: The number that the other side sees.
  ///   - destinationNumber: A user, a number, or a name of the dial plan such as `echo`.
  ///   - callId: The id of the call.
  ///   - clientState: State of the app, which the gateway gives back; sent in base 64.
  ///   - customHeaders: Headers for the other side; names start with `X-`.
  ///   - preferredCodecs: The codecs that this side would like best.
  ///   - debug: Whether to measure quality.
  /// - Throws: ``TxError``: `destinationNumberIsRequired`, `sessionIdIsRequired` (never connected), `socketNotConnected`.
  public func newCall(
    callerName: String, callerNumber: String, destinationNumber: String, callId: UUID,
    clientState: String? = nil,
    customHeaders: [String: String] = [:], preferredCodecs: [TxCodecCapability]? = nil, debug: Bool = false
  ) throws -> Call {
    guard !destinationNumber.isEmpty else { throw TxError.callFailed(reason: .destinationNumberIsRequired) }
    let (session, isConnected) = self.driver.read { ($0.session, $0.isConnected && !$0.isDisconnecting) }
    guard let session else { throw TxError.callFailed(reason: .sessionIdIsRequired) }
    guard isConnected else { throw TxError.socketConnectionFailed(reason: .socketNotConnected) }
    let id = CallID(callId.uuidString.lowercased())
    guard self.driver.call(id) == nil else { throw VoiceFailure(.callStateUnsuitable) }
    var dialog = DialogParams(callID: id)
    dialog.destinationNumber = destinationNumber
    dialog.remoteCallerIDName = "Outbound Call"
    dialog.remoteCallerIDNumber = destinationNumber
    dialog.callerIDName = callerName
    dialog.callerIDNumber = callerNumber
    dialog.audio = true
    dialog.video = false
    dialog.useStereo = false
    dialog.attach = false
    dialog.screenShare = false
    dialog.trickleICE = session.settings.tricklesCandidates && session.dialect.hasTrickle
    dialog.clientState = clientState.map { Data($0.utf8).base64EncodedString() }
    dialog.customHeaders = Call.headers(customHeaders)
    dialog.preferredCodecs = (preferredCodecs ?? []).map(\.preference)
    let setup = CallSetup(dialog: dialog, measuresQuality: debug, preferredCodecs: preferredCodecs ?? [])
    let record = CallRecord.new(id, setup, at: self.driver.parts.clock.now)
    return self.driver.dial(id, setup) { driver in Call(record: record, uuid: callId, driver: driver) }
  }

  // MARK: Async

  /// Waits until the client is registered; returns at once if it is.
  ///
  /// - Throws: ``VoiceFailure`` with why it never will be, such as `call.login.refused`; `call.connection.missing` before
  ///   `connect`; `CancellationError`.
  public func ready() async throws {
    let signal = self.readiness.wait()
    let (isReady, isWanted, givenUp) = self.driver.read { ($0.isReady, $0.willBeConnected, $0.givenUp) }
    if isReady { return }
    guard isWanted else { throw givenUp ?? VoiceFailure(.callNotConnected) }
    for await outcome in signal { return try outcome.get() }
    try Task.checkCancellation()
    throw VoiceFailure(.callNotConnected)
  }

  /// Waits until the client is registered, and places a call.
  ///
  /// - Throws: As ``ready()``; ``TxError`` without a destination.
  public func call(
    _ destination: String, callerName: String = "", callerNumber: String = "", clientState: String? = nil,
    customHeaders: [String: String] = [:]
  ) async throws -> Call {
    guard !destination.isEmpty else { throw TxError.callFailed(reason: .destinationNumberIsRequired) }
    try await self.ready()
    guard let id = UUID(uuidString: self.driver.makeID()) else { throw VoiceFailure(.unexpected) }
    return try self.newCall(
      callerName: callerName, callerNumber: callerNumber, destinationNumber: destination, callId: id,
      clientState: clientState, customHeaders: customHeaders)
  }

  // MARK: Pushes and assistants

  /// Connects after a push message, to the gateway that has the call, and asks it to ring this client.
  ///
  /// The call arrives as ``ClientEvent/incomingCall(_:)`` and ``ClientEvent/pushCall(_:)``. If it does not come within 10 seconds of
  /// the registration, or the gateway does not know it any more, ``ClientEvent/pushedCallEnded(callId:reason:)`` says so.
  ///
  /// - Parameter pushMetaData: What the message said: `voice_sdk_id` is needed, `call_id` may be there.
  /// - Throws: ``TxError/clientConfigurationFailed(reason:)``, `voiceSdkIsRequired` among others.
  public func processVoIPNotification(
    txConfig: TxConfig, serverConfiguration: TxServerConfiguration, pushMetaData: [String: String]
  ) throws {
    guard pushMetaData["voice_sdk_id"]?.isEmpty == false else {
      throw TxError.clientConfigurationFailed(reason: .voiceSdkIsRequired)
    }
    var server = serverConfiguration
    server.pushMetaData = pushMetaData
    try self.connect(txConfig, server, push: pushMetaData)
  }

  /// Asks the gateway to send no more pushes to this device; ``TxClientDelegate/onPushDisabled(success:message:)`` answers.
  public func disablePushNotifications() {
    guard let session = self.driver.read({ $0.session }) else {
      // Reported as a failure: there is nobody to ask.
      return self.driver.submit(.requested(.ping(), isNotification: true))
    }
    let request: DisablePushRequest
    switch session.identity {
    case .credentials(.password(let user, _)):
      request = DisablePushRequest(user: user, pushVariables: session.pushVariables)
    case .credentials(.token(let token)):
      request = DisablePushRequest(user: nil, token: token, pushVariables: session.pushVariables)
    case .anonymous: request = DisablePushRequest(user: nil, pushVariables: session.pushVariables)
    }
    self.driver.submit(.requested(.disablePush(request), isNotification: false))
  }

  /// Tells the gateway that this side rings.
  public func sendRingingAck(callId: String) {
    let session = self.getSessionId()
    self.driver.submit(
      .requested(
        .ringingAck(CallReference(callID: CallID(callId), sessionID: session)), isNotification: false))
  }

  /// Sends a line to the assistant with which this client is connected.
  ///
  /// - Returns: Whether there was a connection to send it on; a refusal of the gateway arrives as a failure.
  @discardableResult
  public func sendAIAssistantMessage(_ message: String) -> Bool {
    self.sendAIAssistantMessage(message, base64Images: nil)
  }

  /// Sends a line with images to the assistant.
  ///
  /// - Parameters:
  ///   - base64Images: The images in base 64, or as whole `data:` URLs.
  ///   - imageFormat: The kind of those that are not URLs.
  @discardableResult
  public func sendAIAssistantMessage(
    _ message: String, base64Images: [String]?, imageFormat: String? = "jpeg"
  ) -> Bool {
    guard self.isConnected() else { return false }
    let urls = (base64Images ?? []).map { image in
      image.hasPrefix("data:") ? image : "data:image/\(imageFormat ?? "jpeg");base64,\(image)"
    }
    let item = AIConversation.message(id: self.driver.makeID(), text: message, imageURLs: urls)
    self.driver.submit(.requested(.aiConversation(item), isNotification: false))
    return true
  }

  /// Answers a tool that the assistant called.
  @discardableResult
  public func sendAIAssistantFunctionOutput(callId: String, output: String) -> Bool {
    guard self.isConnected() else { return false }
    self.driver.submit(
      .requested(.aiConversation(.functionOutput(callID: callId, output: output)), isNotification: true))
    return true
  }
}

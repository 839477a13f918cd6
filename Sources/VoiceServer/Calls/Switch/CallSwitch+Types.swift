import CallSignaling
import VoiceCore

/// One socket of the gateway.
struct ConnectionID: Hashable, Sendable, Comparable, CustomStringConvertible {
  let number: Int

  static func < (left: ConnectionID, right: ConnectionID) -> Bool { left.number < right.number }

  var description: String { "\(self.number)" }
}

/// What a client logged in to; it outlives its sockets as long as it has calls.
///
/// The user is part of the key, so that nobody takes over a session by guessing its id.
struct SessionKey: Hashable, Sendable {
  let user: String
  let sessionID: String
}

/// What the media of one call to a service is known by.
struct MediaID: Hashable, Sendable {
  let number: Int
}

/// What the switch asks of the media of a service.
enum MediaCommand: Hashable, Sendable {
  case start(MediaService, offer: SDP)
  /// Answer a new offer in the same call; what is said of it names the question.
  case renegotiate(offer: SDP, question: Int)
  /// Make an offer for a client that is back.
  case makeOffer
  case takeAnswer(SDP)
  case hold(Bool)
  case tones(String)
  case candidate(CandidateMessage)
  case endOfCandidates
  case stop
}

/// What the media of a service says.
enum MediaEvent: Hashable, Sendable {
  case rang
  case early(SDP)
  /// Answers, with a description unless there was an early one.
  case answered(SDP?)
  case renegotiated(SDP, question: Int)
  /// A new offer cannot be taken; the media go on as before (RFC 3264 section 8).
  case renegotiationRefused(question: Int)
  /// The answer to an offer of the media cannot be taken; they go on as before.
  case answerRefused
  case offered(SDP)
  /// Audio can flow, for the first time or again.
  case connected
  case failed
  /// The service ends the call.
  case ended(HangupCause)
}

/// The response of a client to a request of the gateway.
enum ClientResponse: Hashable, Sendable {
  /// A result, with the description in it if there is one.
  case accepted(SDP?)
  case refused
}

/// Who ended a call.
enum CallEnd: String, Hashable, Sendable, Codable, CaseIterable {
  case caller, callee, gateway
}

/// What is kept of a call after its end.
struct CallRecord: Hashable, Sendable {
  /// The id, the same as `telnyx_session_id` in the messages.
  var id: String
  /// The user who called.
  var caller: String
  /// The number that the caller gave as its own.
  var callerNumber: String?
  /// The destination as the caller wrote it.
  var destination: String
  /// The user or service that was rung.
  var callee: String?
  /// When the invite came.
  var began: VoiceInstant
  /// When the destination began to ring.
  var rang: VoiceInstant?
  /// When it was answered.
  var answered: VoiceInstant?
  /// When it ended.
  var ended: VoiceInstant
  /// Why it ended.
  var reason: CallTerminationReason
  /// Who ended it.
  var endedBy: CallEnd
  /// How often a client came back to it on a new socket.
  var reattachments: Int
}

extension CallSwitch {
  /// What the switch allows and how long it waits.
  struct Configuration: Hashable, Sendable {
    /// How long rings and lost sockets last.
    var legs = LegMachine.Configuration()
    /// How many calls there may be at once.
    var calls = 10_000
    /// How many calls a user may have at once, on all clients together.
    var callsPerUser = 10
    /// How many clients a user may have at once.
    var registrationsPerUser = 10
    /// How long a client may take to answer a change of media.
    var updateTimeout: Duration = .seconds(5)
    /// How long a call with a service goes on without media; clients look for a new way as long (telnyx.md section 1.3).
    var mediaRecovery: Duration = .seconds(60)
    /// How often clients are asked, after one of them attached, to take the description that the other gave last.
    var questions = 6
    /// How many candidates, tones and lines are kept for a client that has no socket, and how many candidates of a caller for
    /// clients that ring later.
    var keptMessages = 64
    /// How long a message may be that is kept, in bytes of JSON.
    var keptMessageSize = 4096
  }

  /// What happened.
  enum Event: Hashable, Sendable {
    /// A client proved who it is.
    case loggedIn(ConnectionID, SessionKey, request: RPCID?, isAnonymous: Bool)
    case requested(ConnectionID, ClientRequest, id: RPCID?)
    /// A client answered a request of ``Action/ask(_:_:number:)``.
    case responded(ConnectionID, number: Int, ClientResponse)
    case disconnected(ConnectionID)
    case media(MediaID, MediaEvent)
    /// Users were added or removed, by a command for example.
    case usersChanged(Set<String>)
    case timePassed
    /// The server stops: all calls end.
    case stopped
  }

  /// What to do.
  enum Action: Hashable, Sendable {
    /// The connection belongs to a session now.
    case registered(ConnectionID, SessionKey)
    case reply(ConnectionID, RPCID, Result<ServerResult, RPCError>)
    case send(ConnectionID, ServerRequest)
    /// Send, and tell the response.
    case ask(ConnectionID, ServerRequest, number: Int)
    case close(ConnectionID, CloseReason)
    case tellMedia(MediaID, MediaCommand)
    case record(CallRecord)
  }

  /// Why a connection is closed.
  enum CloseReason: Hashable, Sendable {
    /// Another connection took the session.
    case takenOver
    /// The user was removed.
    case removed
    case stopped
  }

  /// A client with its calls.
  struct Session {
    var connection: ConnectionID?
    let isAnonymous: Bool
    /// Whether its user was removed: it ends with its last call.
    var isRemoved = false
    /// The legs by the client's id of the call.
    var legs: [CallID: LegNumber] = [:]
    /// Calls that another client answered first; a late answer is told why it fails.
    var lost: [CallID] = []
  }

  /// What a leg is known by.
  struct LegNumber: Hashable, Comparable {
    let value: Int

    static func < (left: LegNumber, right: LegNumber) -> Bool { left.value < right.value }
  }

  /// One client's part of a call.
  struct Leg {
    let call: Int
    let session: SessionKey
    let callID: CallID
    let telnyxID: String
    var machine: LegMachine
    /// What the client described itself with last, in a description that was taken.
    var description: SDP?
    /// The description of the other side that the client took last; `nil` if it has to be told.
    var heard: SDP?
    /// The one that it was offered when it came back.
    var offered: SDP?
    /// What a client without a socket has not been told.
    var missed: [ServerRequest] = []
    /// Whether the client was told last that the other side holds the call.
    var toldHold = HoldState.active
    /// A change of media that waits for the other side.
    var update: PendingUpdate?
  }

  /// A request of a client that waits for the other side.
  struct PendingUpdate {
    let connection: ConnectionID
    let id: RPCID?
    let action: ModifyAction
    let offer: SDP
    let number: Int
    let deadline: VoiceInstant
  }

  /// A question of the gateway itself: how a client describes itself now that the other has this description.
  struct Exchange {
    let asked: LegNumber
    let connection: ConnectionID
    let offer: SDP
    let number: Int
    let deadline: VoiceInstant
  }

  /// What a question to a client is about.
  enum Question: Hashable {
    /// An update that a leg wants of the other one, or of the media of a service.
    case update(of: LegNumber)
    /// An ``Exchange`` of a call.
    case exchange(of: Int)
  }

  /// What belongs together.
  struct Call {
    let caller: LegNumber
    let dialog: DialogParams
    let offer: SDP
    /// Legs that ring or talk.
    var callees: [LegNumber] = []
    var answered: LegNumber?
    var media: MediaID?
    var endedBy: CallEnd?
    var record: CallRecord
    var isOver = false
    /// Candidates of the caller so far, and that they are all, while nobody has answered.
    var candidates: [CandidateMessage] = []
    var hasAllCandidates = false
    var exchange: Exchange?
    var questionsLeft = 0
    /// Until when the failed media of a service have to be connected again.
    var mediaDeadline: VoiceInstant?
  }
}

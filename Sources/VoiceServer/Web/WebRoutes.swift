import Foundation
import GRPCCore
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import VoiceCore

/// What the HTTP port offers besides WebSockets: `/healthz`, `/readyz`, `/metrics`, and `POST /login` for browsers.
struct WebRoutes: Sendable {
  let phase: ServerPhase
  let desk: LoginDesk
  let registry: PrometheusRegistry
  /// Brings numbers up to date that are not counted as they change.
  let refreshMetrics: @Sendable () -> Void

  /// The body of a login, "the browser WebSocket API".
  private struct LoginRequest: Decodable {
    var appId: String?
    var projectId: String?
    var deviceId: String?
  }

  private struct LoginResponse: ResponseEncodable {
    var access_token: String
  }

  private struct Complaint: ResponseEncodable {
    var error: String
    var code: String
  }

  private static let bodyLimit = 16_384

  func router() -> Router<WebContext> {
    let router = Router(context: WebContext.self)
    router.add(
      middleware: CORSMiddleware(
        allowOrigin: CORSMiddleware<WebContext>.AllowOriginExtended.all,
        allowHeaders: [.contentType, .authorization],
        allowMethods: [.get, .post, .options]))
    router.get("healthz") { _, _ in "ok\n" }
    router.get("readyz") { _, _ in
      switch self.phase.value {
      case .ready: EditedResponse(status: .ok, response: "ready\n")
      case .loading: EditedResponse(status: .serviceUnavailable, response: "loading\n")
      case .draining, .stopped: EditedResponse(status: .serviceUnavailable, response: "stopping\n")
      }
    }
    router.get("metrics") { _, _ in
      self.refreshMetrics()
      return Response(
        status: .ok, headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8"],
        body: ResponseBody(byteBuffer: ByteBuffer(string: self.registry.text())))
    }
    for path in GatewayChannel.paths.sorted() {
      router.get(RouterPath(path)) { request, _ in Self.notUpgraded(request) }
    }
    router.post("login") { request, context in
      try await self.login(request, context)
    }
    return router
  }

  /// Answers a request for the gateway that did not become a WebSocket: it asked for none, or there is no room for it.
  private static func notUpgraded(_ request: Request) -> Response {
    // The wish itself has been removed from the request.
    let asks = request.headers[.secWebSocketKey] != nil && request.headers[.secWebSocketVersion] == "13"
    return Response(
      status: asks ? .serviceUnavailable : .upgradeRequired,
      headers: asks ? [.retryAfter: "30"] : [.upgrade: "websocket", .secWebSocketVersion: "13"])
  }

  private func login(_ request: Request, _ context: WebContext) async throws -> Response {
    let body: LoginRequest
    do {
      let buffer = try await request.body.collect(upTo: Self.bodyLimit)
      body = try JSONDecoder().decode(LoginRequest.self, from: Data(buffer.readableBytesView))
    } catch {
      let failure = VoiceFailure(
        .loginInvalid,
        message: "The body is not a login. Send JSON with deviceId and either appId or projectId.")
      return try Self.complaint(failure, status: .badRequest, request, context)
    }
    let target: LoginDesk.Target =
      if let id = body.projectId {
        .project(id)
      } else if let id = body.appId {
        .application(id, language: "", configID: "")
      } else {
        .nothing
      }
    do throws(Refusal) {
      let issued = try await self.desk.login(
        target, deviceID: body.deviceId ?? "", from: context.address)
      return try Self.response(LoginResponse(access_token: issued.text), request, context)
    } catch {
      var response = try Self.complaint(
        error.failure, status: Self.status(of: error), request, context)
      if let delay = error.retryAfter {
        response.headers[.retryAfter] = "\(max(1, delay.components.seconds))"
      }
      return response
    }
  }

  private static func response(
    _ value: some ResponseEncodable, _ request: Request, _ context: WebContext
  ) throws(Refusal) -> Response {
    do {
      return try value.response(from: request, context: context)
    } catch {
      throw Refusal(VoiceFailure(.unexpected, cause: error))
    }
  }

  private static func complaint(
    _ failure: VoiceFailure, status: HTTPResponse.Status, _ request: Request, _ context: WebContext
  ) throws -> Response {
    var response = try Complaint(error: failure.message, code: failure.code.rawValue)
      .response(from: request, context: context)
    response.status = status
    return response
  }

  private static func status(of refusal: Refusal) -> HTTPResponse.Status {
    switch refusal.status {
    case .notFound: .notFound
    case .resourceExhausted: .tooManyRequests
    case .invalidArgument: .badRequest
    default: .internalServerError
    }
  }
}

/// A request's context with the address that it came from.
struct WebContext: RequestContext {
  var coreContext: CoreRequestContextStorage
  let address: String

  init(source: ApplicationRequestContextSource) {
    self.coreContext = .init(source: source)
    self.address = source.channel.remoteAddress?.ipAddress ?? ""
  }
}

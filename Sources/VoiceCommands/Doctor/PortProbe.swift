import Foundation
import NIOCore
import NIOPosix

/// Finds out who listens at a port of this machine.
enum PortProbe {
  enum Answer: Hashable, Sendable {
    case free
    /// A server of this project.
    case ours
    case other
    case notUsable(String)
  }

  static func ask(
    port: Int, host: String = "127.0.0.1", patience: TimeAmount = .seconds(2)
  ) async -> Answer {
    do {
      let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
        .bind(host: host, port: port).get()
      try await channel.close()
      return .free
    } catch let error as IOError where error.errnoCode == EADDRINUSE {
      return await self.isOurs(host: host, port: port, patience: patience) ? .ours : .other
    } catch let error as IOError {
      return .notUsable(String(cString: strerror(error.errnoCode)))
    } catch {
      return .notUsable("\(error)")
    }
  }

  /// Whether what listens there answers HTTP as `voice serve` does.
  private static func isOurs(host: String, port: Int, patience: TimeAmount) async -> Bool {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let answer = loop.makePromise(of: String.self)
    let timeout = loop.scheduleTask(in: patience) { answer.succeed("") }
    do {
      let channel = try await ClientBootstrap(group: loop)
        .connectTimeout(patience)
        .channelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(HeaderCollector(answer: answer))
          }
        }
        .connect(host: host, port: port).get()
      try await channel.writeAndFlush(
        ByteBuffer(string: "GET /healthz HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n"))
      let header = try await answer.futureResult.get()
      timeout.cancel()
      try? await channel.close()
      return header.lowercased().contains("server: swift-voice")
    } catch {
      answer.succeed("")
      timeout.cancel()
      return false
    }
  }
}

/// Collects the head of an answer; at most a few kilobytes of whatever comes.
private final class HeaderCollector: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private static let limit = 8192
  private let answer: EventLoopPromise<String>
  private var received = ByteBuffer()

  init(answer: EventLoopPromise<String>) {
    self.answer = answer
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var buffer = self.unwrapInboundIn(data)
    self.received.writeBuffer(&buffer)
    let text = String(buffer: self.received)
    if text.contains("\r\n\r\n") || self.received.readableBytes > Self.limit { self.answer.succeed(text) }
  }

  func channelInactive(context: ChannelHandlerContext) {
    self.answer.succeed(String(buffer: self.received))
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    self.answer.succeed("")
    context.close(promise: nil)
  }
}

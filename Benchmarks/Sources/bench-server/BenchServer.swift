import Foundation
import VoiceCore

/// `bench-server voice` runs the project's server with an engine that costs nothing, `bench-server stock` the same service
/// made of grpc-swift-2 alone, `bench-server calls` the project's gateway for calls. Prints `PORT <n>` when it is ready; ends when its standard input ends.
@main
enum BenchServer {
  /// What clients of both send as their key.
  static let key = "benchmark-api-key-0001"

  static func main() async throws {
    let end = Thread {
      while readLine() != nil {}; exit(0)
    }
    end.start()
    switch CommandLine.arguments.dropFirst().first {
    case "voice": try await VoiceSubject.run()
    case "stock": try await StockSubject.run()
    case "calls": try await CallsSubject.run()
    default:
      FileHandle.standardError.write(Data("usage: bench-server voice|stock|calls\n".utf8))
      exit(2)
    }
  }

  static func announce(port: Int) {
    FileHandle.standardOutput.write(Data("PORT \(port)\n".utf8))
  }
}

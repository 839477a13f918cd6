import Foundation
import Testing
import VoiceCore

@testable import VoiceCommands

/// `voice call` with a gateway of its own: real sockets, real client, real gateway.
@Suite struct CallCommandTests {
  private func states(_ output: String) throws -> [[String: Any]] {
    try output.split(separator: "\n").map { line in
      try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }.filter { $0["event"] as? String == "call" }
  }

  @Test func aCallThatIsRefusedEndsWithItsCauseAndStatusSix() async throws {
    let (status, console) = await voice("call", "fail-486", "--local", "--json")
    #expect(status == .call)
    let last = try #require(try self.states(console.output).last)
    #expect(last["state"] as? String == "DONE")
    #expect(last["cause"] as? String == "USER_BUSY")
    #expect(last["causeCode"] as? Int == 17)
    #expect(last["sipCode"] as? Int == 486)
    #expect(last["sipReason"] as? String == "Busy Here")
    #expect(console.output.contains("call.ended.busy"))
  }

  @Test func aNumberThatNobodyHasIsNotFound() async throws {
    let (status, console) = await voice("call", "nobody", "--local", "--json")
    #expect(status == .call)
    #expect(try self.states(console.output).last?["sipCode"] as? Int == 404)
  }

  @Test(arguments: [["--server", "ws://h"], ["--user", "a"], ["--token", "t"]])
  func aGatewayOfOnesOwnHasUsersOfItsOwn(_ option: [String]) async {
    let (status, console) = await voice("call", "echo", "--local", option[0], option[1])
    #expect(status == .usage)
    #expect(console.error.contains("--local brings its own gateway"))
  }
}

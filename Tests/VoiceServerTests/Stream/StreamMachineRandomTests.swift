import Foundation
import SpeechPipeline
import SpeechProtocol
import SwiftProtobuf
import Testing
import VoiceCore
import VoiceTesting

@testable import VoiceServer

/// A hundred thousand random clients, with a recogniser that answers in its own time.
@Suite struct StreamMachineRandomTests {
  static let sequences = 100_000
  static let parts = 8

  static let requests: [Speechly_Slu_V1_SLURequest] = [
    Request.config(), Request.config(channels: 2, rate: 8000), Request.config(channels: 0),
    Request.config(language: "fi-FI"), Request.config(options: ["resume_tokens": "yes", "rtt": "yes"]),
    Request.start(), Request.start(app: Fixture.appID), Request.start(app: Fixture.foreignID),
    Request.start(app: "x"), Request.start(options: ["resume_token": "x", "rtt": "yes"]), Request.startEvent,
    Request.stop, Request.stopEvent, Request.audio(bytes: 0), Request.audio(bytes: 1),
    Request.audio(bytes: 63), Request.audio(bytes: 1200), Request.roundTrip(1), Request.roundTrip(9), .init(),
    .with { $0.event.event = .UNRECOGNIZED(9) },
  ]

  /// What the driver does, as far as the machine can tell.
  struct Driver {
    var begun: [String] = []
    var open: Set<String> = []
    var finishing: Set<String> = []
    var samples: [String: Int] = [:]
    var words: [String: Int] = [:]
  }

  @Test(arguments: 0..<parts)
  func holdsForRandomClients(_ part: Int) async throws {
    var limits = ServerConfiguration.Limits()
    limits.chunkBytes = 1024
    limits.contextDuration = .milliseconds(50)
    let template = try await MachineHarness(limits: limits)
    let project = try await MachineHarness.project(limits: limits)
    for number in 0..<(Self.sequences / Self.parts) {
      let seed = UInt64(part * Self.sequences + number)
      var generator = SeededGenerator(seed: seed)
      let problem = Self.run(
        Bool.random(using: &generator) ? template : project, using: &generator)
      if let problem {
        Issue.record("seed \(seed): \(problem)")
        return
      }
    }
  }

  /// Plays one client.
  ///
  /// - Returns: What went wrong.
  static func run(_ start: MachineHarness, using generator: inout SeededGenerator) -> String? {
    var harness = start
    var driver = Driver()
    var rules = ResponseRules(allowsRoundTrips: true)
    var hasEnded = false
    var problem: String?

    func take(_ actions: [StreamMachine.Action]) {
      for action in actions {
        if hasEnded, problem == nil {
          switch action {
          case .ignore: break
          default: problem = "an action after the end: \(action)"
          }
        }
        switch action {
        case .send(let response): rules.check(response)
        case .beginContext(let id, _):
          if driver.begun.contains(id) { problem = "begun twice" }
          driver.begun.append(id)
          driver.open.insert(id)
        case .append(let id, let samples):
          if !driver.open.contains(id) { problem = "audio for a context that is not open" }
          if samples.isEmpty { problem = "an append of nothing" }
          driver.samples[id, default: 0] += samples.count
          if driver.samples[id, default: 0] > 800 { problem = "more audio than a context may have" }
        case .finishContext(let id):
          if driver.open.remove(id) == nil { problem = "finished a context that is not open" }
          driver.finishing.insert(id)
        case .cancelContext(let id):
          if !driver.open.contains(id), !driver.finishing.contains(id) {
            problem = "cancelled an unknown context"
          }
          driver.open.remove(id)
          driver.finishing.remove(id)
        case .end(let refusal):
          hasEnded = true
          if refusal == nil, !driver.finishing.isEmpty || !driver.open.isEmpty {
            problem = "ended well with results to come"
          }
          if let refusal, refusal.failure.message.isEmpty { problem = "an end without a reason" }
        case .scheduleIdleCheck, .recordRoundTrip, .ignore: break
        }
      }
    }

    take(harness.machine.opened())
    // Half of the clients begin properly, or few would get far.
    if Bool.random(using: &generator) { take(harness.send(Request.config())) }
    for _ in 0..<Int.random(in: 1...40, using: &generator) {
      harness.now = harness.now.advanced(by: .milliseconds(Int.random(in: 0...200, using: &generator)))
      let contexts = Array(driver.open.union(driver.finishing)).sorted()
      let context = contexts.randomElement(using: &generator)
      switch Int.random(in: 0..<100, using: &generator) {
      case 0..<55:
        guard let request = Self.requests.randomElement(using: &generator) else { continue }
        // Ids are used again after sixteen contexts; a client that lives so long is long enough.
        guard harness.used < MachineHarness.ids.count else { return problem }
        take(harness.send(request))
      case 55..<65:
        guard let context, driver.words[context] == nil else { continue }
        driver.words[context] = 0
        take(harness.machine.contextBegan(context, at: harness.now))
      case 65..<80:
        guard let context, let count = driver.words[context] else { continue }
        let word = RecognizedWord(text: "w\(count)", start: .zero, end: .milliseconds(1))
        driver.words[context] = count + 1
        take(
          harness.machine.recognized(
            [
              .hypothesis(segment: count, firstIndex: 0, words: [word]),
              .word(segment: count, index: 0, word),
              .segmentEnded(segment: count, .init(resumePoint: .init(sample: 1, adaptation: nil))),
            ], in: context))
      case 80..<90:
        guard let context, driver.finishing.contains(context), driver.words[context] != nil else { continue }
        driver.finishing.remove(context)
        take(harness.machine.contextFinished(context, at: harness.now))
      case 90..<92:
        guard let context else { continue }
        driver.open.remove(context)
        driver.finishing.remove(context)
        take(harness.machine.contextFailed(context, Refusal(.engineFailed, "x")))
      case 92..<94: take(harness.machine.halfClosed(at: harness.now))
      case 94..<96:
        harness.now = harness.now.advanced(by: .seconds(Int.random(in: 0...90, using: &generator)))
        take(harness.machine.idleCheckDue(at: harness.now))
      case 96..<97: take(harness.machine.drainBegan())
      default: continue
      }
      if problem != nil { return problem }
      if (harness.machine.state == .ended) != hasEnded { return "ended and no action, or the reverse" }
    }
    // Whatever happened: when the client closes and the recogniser answers, the call ends.
    take(harness.machine.halfClosed(at: harness.now))
    for context in driver.open.union(driver.finishing).sorted() {
      if driver.words[context] == nil { take(harness.machine.contextBegan(context, at: harness.now)) }
      driver.open.remove(context)
      driver.finishing.remove(context)
      take(harness.machine.contextFinished(context, at: harness.now))
    }
    if !hasEnded { return "the call does not end" }
    if let violation = rules.violations.first { return "\(violation)" }
    return problem
  }
}

import Foundation
import SpeechPipeline
import Testing

@testable import SpeechMessages

@Suite struct OpenResumePointsTests {
  @Test func aTokenGivesBackWhatWasSealed() throws {
    let adaptation = RecognizerAdaptation(bytes: [0, 255, 7])
    let token = try #require(OpenResumePoints().seal(adaptation))
    #expect(OpenResumePoints().open(text: Data(token).base64EncodedString()) == adaptation)
    let empty = try #require(OpenResumePoints().seal(nil))
    #expect(OpenResumePoints().open(text: Data(empty).base64EncodedString())?.bytes == [])
  }

  @Test(arguments: [
    "", "no base64!", "AQIDBA==", Data([1] + Array(repeating: 0, count: 40)).base64EncodedString(),
  ])
  func whatIsNotOursIsNotOpened(text: String) {
    #expect(OpenResumePoints().open(text: text) == nil)
  }

  @Test func whatIsTooLargeIsNeitherSealedNorOpened() {
    let large = [UInt8](repeating: 1, count: RecognizerAdaptation.maximumByteCount + 1)
    #expect(OpenResumePoints().seal(RecognizerAdaptation(bytes: large)) == nil)
    #expect(OpenResumePoints().open(text: Data([0xfe] + large).base64EncodedString()) == nil)
  }
}

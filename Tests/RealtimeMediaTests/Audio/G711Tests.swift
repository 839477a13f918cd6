import RealtimeMedia
import Testing

/// ITU-T G.711, tables 1 and 2, scaled to 16 bits.
@Suite struct G711Tests {
  @Test func knownPointsOfTheMuLaw() {
    #expect(G711.encodeMuLaw(0) == 0xff)
    #expect(G711.encodeMuLaw(-1) == 0x7f)
    #expect(G711.encodeMuLaw(.max) == 0x80)
    #expect(G711.encodeMuLaw(.min) == 0x00)
    #expect(G711.decodeMuLaw(0xff) == 0 && G711.decodeMuLaw(0x7f) == 0)
    #expect(G711.decodeMuLaw(0x80) == 32124 && G711.decodeMuLaw(0x00) == -32124)
    #expect(G711.decodeMuLaw(0xfe) == 8 && G711.decodeMuLaw(0xf0) == 120 && G711.decodeMuLaw(0xef) == 132)
  }

  @Test func knownPointsOfTheALaw() {
    #expect(G711.encodeALaw(0) == 0xd5)
    #expect(G711.encodeALaw(-1) == 0x55)
    #expect(G711.encodeALaw(.max) == 0xaa)
    #expect(G711.encodeALaw(.min) == 0x2a)
    #expect(G711.decodeALaw(0xd5) == 8 && G711.decodeALaw(0x55) == -8)
    #expect(G711.decodeALaw(0xaa) == 32256 && G711.decodeALaw(0x2a) == -32256)
    #expect(G711.decodeALaw(0xc5) == 264, "the second segment begins at 256")
  }

  @Test func everyCodeIsEncodedAsItself() {
    for code: UInt8 in 0...255 {
      // The µ-law has two zeros; 16 bits have one.
      #expect(G711.encodeMuLaw(G711.decodeMuLaw(code)) == (code == 0x7f ? 0xff : code))
      #expect(G711.encodeALaw(G711.decodeALaw(code)) == code)
    }
  }

  @Test func everySampleIsEncodedToTheNearestCodeAndInOrder() {
    var lastMuLaw = Int16.min
    var lastALaw = Int16.min
    for sample in Int16.min...Int16.max {
      let muLaw = G711.decodeMuLaw(G711.encodeMuLaw(sample))
      let aLaw = G711.decodeALaw(G711.encodeALaw(sample))
      // Half of a step: a step is a 16th of the segment, and the smallest one 8 or 16.
      let magnitude = Int(sample.magnitude)
      if magnitude <= 32635 { #expect(abs(Int(sample) - Int(muLaw)) <= max(4, (magnitude + 132) / 32)) }
      #expect(abs(Int(sample) - Int(aLaw)) <= max(8, magnitude / 32 + 1))
      #expect(muLaw >= lastMuLaw && aLaw >= lastALaw)
      (lastMuLaw, lastALaw) = (muLaw, aLaw)
    }
  }
}

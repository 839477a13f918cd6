import CallSignaling
import Foundation
import FuzzSupport

/// Reading a frame: no crash; what was read is written to something that is read as the same, and written to the same.
func fuzz<Request: SignalingRequest>(_ type: Request.Type, _ bytes: [UInt8]) {
  let codec = SignalingCodec()
  let frame: Frame<Request>
  do throws(FrameError) {
    frame = try codec.decode(type, from: bytes)
  } catch {
    require(!error.description.isEmpty && !error.response.message.isEmpty, "an error says what is wrong")
    return
  }
  switch frame.content {
  case .request(let request, let id):
    let written = codec.encode(request, id: id, voiceSDKID: frame.voiceSDKID)
    let again = try? codec.decode(type, from: written)
    require(again?.content == frame.content, "a request is read as what was written")
    require(again?.voiceSDKID == frame.voiceSDKID, "the routing token is kept")
    if case .request(let second, let secondID)? = again?.content {
      require(
        codec.encode(second, id: secondID, voiceSDKID: frame.voiceSDKID) == written,
        "a request is always written the same")
    }
  case .result(let json, let id):
    for method in SignalingMethod.known {
      guard let result = try? ServerResult.read(json, of: method) else { continue }
      let written = codec.encode(result, id: id)
      guard case .result(let second, let secondID)? = (try? codec.decode(type, from: written))?.content else {
        require(false, "a result is read as a result")
        return
      }
      require(secondID == id, "the id is kept")
      require((try? ServerResult.read(second, of: method)) == result, "a result of \(method) is kept")
    }
  case .error(let error, let id):
    let again = try? codec.decode(type, from: codec.encode(error, id: id))
    require(again?.content == .error(error, id: id), "an error is kept")
  case .debugReport, .speedTest: break
  }
}

/// Reading JSON: what was read is written to something that is read as the same.
func fuzzJSON(_ bytes: [UInt8]) {
  guard let json = try? JSON.read(bytes) else { return }
  require((try? JSON.read(json.bytes)) == json, "JSON is read as what was written")
  _ = json.redacted.text
}

@main
struct FuzzSignaling {
  static func main() {
    runFuzzer { bytes in
      let rest = Array(bytes.dropFirst())
      // The first byte chooses who sends.
      switch bytes.first {
      case UInt8(ascii: "C"): fuzz(ClientRequest.self, rest)
      case UInt8(ascii: "S"): fuzz(ServerRequest.self, rest)
      default: fuzzJSON(rest)
      }
    }
  }
}

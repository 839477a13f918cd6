// On Apple platforms this module of swift-crypto is CryptoKit. Nothing that is tested here computes a code: these declarations
// are there so that the rest of `RealtimeMedia` is compiled, and stop a test that would come to rely on them.

public struct SymmetricKey: Sendable {
  public init(data: [UInt8]) {}
}

public protocol HashFunction: Sendable {}

public struct SHA256: HashFunction {}

public enum Insecure {
  public struct SHA1: HashFunction {}

  public struct MD5: HashFunction {
    public static func hash(data: [UInt8]) -> [UInt8] { fatalError("declared only") }
  }
}

public enum HMAC<H: HashFunction> {
  public static func authenticationCode(for data: [UInt8], using key: SymmetricKey) -> [UInt8] {
    fatalError("declared only")
  }

  public static func isValidAuthenticationCode(
    _ code: [UInt8], authenticating data: [UInt8], using key: SymmetricKey
  ) -> Bool { fatalError("declared only") }
}

package import Foundation
import Synchronization

public typealias CFTypeRef = Any
public typealias CFDictionary = [CFString: Any]
public typealias OSStatus = Int32

public struct CFString: Hashable, Sendable, ExpressibleByStringLiteral {
  let value: String

  public init(stringLiteral value: String) {
    self.value = value
  }
}

public let kSecClass: CFString = "class"
public let kSecClassGenericPassword: CFString = "genp"
public let kSecAttrService: CFString = "svce"
public let kSecAttrAccount: CFString = "acct"
public let kSecAttrAccessible: CFString = "pdmn"
public let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly: CFString = "cku"
public let kSecReturnData: CFString = "r_Data"
public let kSecValueData: CFString = "v_Data"
public let errSecSuccess: OSStatus = 0
public let errSecItemNotFound: OSStatus = -25300

/// A keychain in memory, by account.
package enum StubKeychain {
  private static let items = Mutex<[String: Data]>([:])
  private static let failure = Mutex<OSStatus?>(nil)

  package static func fail(with status: OSStatus?) { failure.withLock { $0 = status } }

  package static func set(_ data: Data, account: String) { items.withLock { $0[account] = data } }

  static func with(_ query: CFDictionary, _ body: (inout Data?) -> OSStatus) -> OSStatus {
    if let status = failure.withLock({ $0 }) { return status }
    let account = query[kSecAttrAccount] as? String ?? ""
    return items.withLock { body(&$0[account]) }
  }
}

public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?)
  -> OSStatus
{
  StubKeychain.with(query) { item in
    guard let item else { return errSecItemNotFound }
    result?.pointee = item
    return errSecSuccess
  }
}

public func SecItemUpdate(_ query: CFDictionary, _ attributes: CFDictionary) -> OSStatus {
  StubKeychain.with(query) { item in
    guard item != nil else { return errSecItemNotFound }
    item = attributes[kSecValueData] as? Data
    return errSecSuccess
  }
}

public func SecItemAdd(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
  StubKeychain.with(attributes) { item in
    item = attributes[kSecValueData] as? Data
    return errSecSuccess
  }
}

public func SecItemDelete(_ query: CFDictionary) -> OSStatus {
  StubKeychain.with(query) { item in
    defer { item = nil }
    return item == nil ? errSecItemNotFound : errSecSuccess
  }
}

import Foundation

/// The identity of this device: a random UUID that is made once and kept.
enum DeviceIdentity {
  static let cacheKey = "deviceId"

  static func deviceId(in cache: any CacheProtocol) -> UUID {
    if let text = cache.getValue(forKey: self.cacheKey), let known = UUID(uuidString: text) {
      return known
    }
    let fresh = UUID()
    cache.setValue(fresh.uuidString.lowercased(), forKey: self.cacheKey)
    return fresh
  }
}

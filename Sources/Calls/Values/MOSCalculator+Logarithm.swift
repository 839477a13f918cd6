import Foundation

extension MOSCalculator {
  static func logarithm(_ value: Double) -> Double { log(value) }
}

public import CoreMetrics
import Foundation
import Synchronization

/// A metrics backend that keeps everything in memory and prints it in Prometheus' text format.
///
/// Counters stay counters, meters and plain recorders become gauges, timers become histograms in seconds,
/// aggregating recorders histograms in their own unit. A server makes its own; an app with one server may also
/// bootstrap `MetricsSystem` with it: `MetricsSystem.bootstrap(server.metricsRegistry)`.
public final class PrometheusRegistry: MetricsFactory, Sendable {
  struct SeriesKey: Hashable {
    var name: String
    var labels: String
  }

  private struct Family {
    var kind: MetricSeries.Kind
    var series: [String: MetricSeries] = [:]
  }

  private let families = Mutex<[String: Family]>([:])

  /// How many series are kept; further ones are counted nowhere, so that no client can fill the memory with labels.
  private static let seriesLimit = 4096

  /// Creates an empty registry.
  public init() {}

  /// All metrics in Prometheus' text exposition format, version 0.0.4.
  public func text() -> String {
    self.families.withLock { families in
      var lines: [String] = []
      for (name, family) in families.sorted(by: { $0.key < $1.key }) {
        lines.append("# TYPE \(name) \(family.kind.name)")
        for (labels, series) in family.series.sorted(by: { $0.key < $1.key }) {
          lines += series.lines(name: name, labels: labels)
        }
      }
      return lines.map { $0 + "\n" }.joined()
    }
  }

  private func series(
    _ label: String, _ dimensions: [(String, String)], _ kind: MetricSeries.Kind
  ) -> MetricSeries {
    let name = Self.name(label)
    let labels = dimensions.map { "\(Self.name($0.0))=\"\(Self.escaped($0.1))\"" }.joined(separator: ",")
    return self.families.withLock { families in
      var family = families[name] ?? Family(kind: kind)
      // The same name with two meanings cannot be exported: the first one stays.
      guard family.kind == kind else { return MetricSeries(kind: kind) }
      if let series = family.series[labels] { return series }
      let series = MetricSeries(kind: kind)
      guard families.values.reduce(0, { $0 + $1.series.count }) < Self.seriesLimit else { return series }
      family.series[labels] = series
      families[name] = family
      return series
    }
  }

  public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
    self.series(label, dimensions, .counter)
  }

  public func makeFloatingPointCounter(
    label: String, dimensions: [(String, String)]
  ) -> any FloatingPointCounterHandler {
    self.series(label, dimensions, .counter)
  }

  public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
    self.series(label, dimensions, .gauge)
  }

  public func makeRecorder(
    label: String, dimensions: [(String, String)], aggregate: Bool
  ) -> any RecorderHandler {
    self.series(label, dimensions, aggregate ? .histogram : .gauge)
  }

  public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
    self.series(label, dimensions, .histogram)
  }

  // Series outlive their handlers: a scraper must not see a counter vanish or begin anew.
  public func destroyCounter(_ handler: any CounterHandler) {}
  public func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {}
  public func destroyMeter(_ handler: any MeterHandler) {}
  public func destroyRecorder(_ handler: any RecorderHandler) {}
  public func destroyTimer(_ handler: any TimerHandler) {}

  static func name(_ text: String) -> String {
    let name = text.unicodeScalars.map { scalar in
      switch scalar {
      case "a"..."z", "A"..."Z", "0"..."9", "_": String(scalar)
      default: "_"
      }
    }.joined()
    return name.first?.isNumber == true ? "_" + name : name
  }

  static func escaped(_ text: String) -> String {
    text.replacingOccurrences(of: "\\", with: "\\\\").replacingOccurrences(of: "\"", with: "\\\"")
      .replacingOccurrences(of: "\n", with: "\\n")
  }
}

/// One series of numbers.
final class MetricSeries: Sendable {
  enum Kind: Hashable, Sendable {
    case counter
    case gauge
    case histogram

    var name: String {
      switch self {
      case .counter: "counter"
      case .gauge: "gauge"
      case .histogram: "histogram"
      }
    }
  }

  private struct Numbers {
    var value = 0.0
    var count = 0
    var buckets = [Int](repeating: 0, count: MetricSeries.bounds.count)
  }

  /// The upper bounds of the histograms' buckets.
  static let bounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

  private let kind: Kind
  private let numbers = Mutex(Numbers())

  init(kind: Kind) {
    self.kind = kind
  }

  func add(_ amount: Double) {
    self.numbers.withLock { $0.value += amount }
  }

  func replace(_ value: Double) {
    self.numbers.withLock { $0.value = value }
  }

  func observe(_ value: Double) {
    self.numbers.withLock { numbers in
      numbers.value += value
      numbers.count += 1
      for (index, bound) in Self.bounds.enumerated() where value <= bound {
        numbers.buckets[index] += 1
      }
    }
  }

  func lines(name: String, labels: String) -> [String] {
    let numbers = self.numbers.withLock { $0 }
    let suffix = labels.isEmpty ? "" : "{\(labels)}"
    switch self.kind {
    case .counter, .gauge: return ["\(name)\(suffix) \(Self.text(numbers.value))"]
    case .histogram:
      let prefix = labels.isEmpty ? "" : labels + ","
      return zip(Self.bounds, numbers.buckets).map { bound, count in
        "\(name)_bucket{\(prefix)le=\"\(Self.text(bound))\"} \(count)"
      } + [
        "\(name)_bucket{\(prefix)le=\"+Inf\"} \(numbers.count)",
        "\(name)_sum\(suffix) \(Self.text(numbers.value))",
        "\(name)_count\(suffix) \(numbers.count)",
      ]
    }
  }

  private static func text(_ value: Double) -> String {
    if value.isNaN { return "NaN" }
    if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
    return value == value.rounded() && abs(value) < 1e15 ? "\(Int64(value))" : "\(value)"
  }
}

extension MetricSeries: CounterHandler {
  func increment(by amount: Int64) { self.add(Double(amount)) }
  func reset() { self.replace(0) }
}

extension MetricSeries: FloatingPointCounterHandler {
  func increment(by amount: Double) { self.add(amount) }
}

extension MetricSeries: MeterHandler {
  func set(_ value: Int64) { self.replace(Double(value)) }
  func set(_ value: Double) { self.replace(value) }
  func decrement(by amount: Double) { self.add(-amount) }
}

extension MetricSeries: RecorderHandler {
  func record(_ value: Int64) { self.record(Double(value)) }

  func record(_ value: Double) {
    switch self.kind {
    case .histogram: self.observe(value)
    case .counter, .gauge: self.replace(value)
    }
  }
}

extension MetricSeries: TimerHandler {
  func recordNanoseconds(_ duration: Int64) { self.observe(Double(duration) / 1_000_000_000) }
}

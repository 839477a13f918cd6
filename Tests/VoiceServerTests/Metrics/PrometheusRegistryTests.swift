import CoreMetrics
import Metrics
import Testing

@testable import VoiceServer

@Suite struct PrometheusRegistryTests {
  @Test func printsCountersGaugesAndHistograms() {
    let registry = PrometheusRegistry()
    Counter(label: "calls_total", dimensions: [("code", "a.b")], factory: registry).increment(by: 2)
    Counter(label: "calls_total", dimensions: [("code", "a.b")], factory: registry).increment()
    FloatingPointCounter(label: "audio_seconds_total", factory: registry).increment(by: 0.25)
    let meter = Meter(label: "open", factory: registry)
    meter.increment(by: 3)
    meter.decrement(by: 1)
    let timer = Timer(label: "wait_seconds", factory: registry)
    timer.recordNanoseconds(20_000_000)
    timer.recordNanoseconds(70_000_000_000)
    let lines = registry.text().split(separator: "\n").map(String.init)
    #expect(lines.contains("# TYPE calls_total counter"))
    #expect(lines.contains("calls_total{code=\"a.b\"} 3"))
    #expect(lines.contains("audio_seconds_total 0.25"))
    #expect(lines.contains("# TYPE open gauge"))
    #expect(lines.contains("open 2"))
    #expect(lines.contains("# TYPE wait_seconds histogram"))
    #expect(lines.contains("wait_seconds_bucket{le=\"0.01\"} 0"))
    #expect(lines.contains("wait_seconds_bucket{le=\"0.025\"} 1"))
    #expect(lines.contains("wait_seconds_bucket{le=\"60\"} 1"))
    #expect(lines.contains("wait_seconds_bucket{le=\"+Inf\"} 2"))
    #expect(lines.contains("wait_seconds_count 2"))
    #expect(lines.contains("wait_seconds_sum 70.02"))
    #expect(registry.text().hasSuffix("\n"))
  }

  @Test func namesAndLabelsAreMadeLegal() {
    let registry = PrometheusRegistry()
    Counter(label: "2 bad-näme", dimensions: [("a-b", "x\"y\\z\n")], factory: registry).increment()
    #expect(registry.text().contains("_2_bad_n_me{a_b=\"x\\\"y\\\\z\\n\"} 1"))
  }

  @Test func aNameKeepsItsFirstMeaning() {
    let registry = PrometheusRegistry()
    Counter(label: "x", factory: registry).increment()
    Meter(label: "x", factory: registry).set(5)
    #expect(registry.text() == "# TYPE x counter\nx 1\n")
  }

  @Test func labelsCannotFillTheMemory() {
    let registry = PrometheusRegistry()
    for index in 0..<5000 {
      Counter(label: "x", dimensions: [("i", "\(index)")], factory: registry).increment()
    }
    #expect(registry.text().split(separator: "\n").count <= 4097)
  }
}

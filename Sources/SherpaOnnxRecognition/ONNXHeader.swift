import Foundation
import VoiceCore

/// What an ONNX file says of itself: its metadata, and the tensors that go in and come out.
///
/// The recognition library ends the process if metadata is missing, so they are read before it sees the file. The weights
/// are skipped. https://github.com/onnx/onnx/blob/main/onnx/onnx.proto
struct ONNXHeader: Hashable, Sendable {
  struct Tensor: Hashable, Sendable {
    var name = ""
    var type = ElementType.other
    /// The lengths of its dimensions, `nil` for one that is not fixed; `nil` if it does not say.
    var shape: [Int?]?
  }

  enum ElementType: Hashable, Sendable {
    case float
    case int64
    case other
  }

  /// Why a file cannot be read.
  enum Problem: Error, Hashable, Sendable {
    case notReadable
    case notONNX
  }

  private(set) var metadata: [String: String] = [:]
  private(set) var inputs: [Tensor] = []
  private(set) var outputs: [Tensor] = []

  /// Reads a file.
  init(path: String) throws(Problem) {
    guard let data = try? Data(contentsOf: URL(fileURLWithPath: path), options: .mappedIfSafe) else {
      throw .notReadable
    }
    try self.init(data)
  }

  init(_ data: Data) throws(Problem) {
    let result = data.withUnsafeBytes { bytes in
      Result { () throws(Problem) in try Self(ProtobufReader(bytes)) }
    }
    self = try result.get()
  }

  private init(_ file: ProtobufReader) throws(Problem) {
    var reader = file
    var hasGraph = false
    while let field = try reader.next() {
      switch (field.number, field.value) {
      case (7, .message(let graph)):
        hasGraph = true
        try self.readGraph(graph)
      case (14, .message(let entry)):
        let (key, value) = try Self.entry(entry)
        self.metadata[key] = value
      default: break
      }
    }
    guard hasGraph, !self.outputs.isEmpty else { throw .notONNX }
  }

  private mutating func readGraph(_ message: ProtobufReader) throws(Problem) {
    var reader = message
    var weights: Set<String> = []
    while let field = try reader.next() {
      switch (field.number, field.value) {
      case (5, .message(let tensor)): weights.insert(try Self.text(8, of: tensor))
      case (11, .message(let tensor)): self.inputs.append(try Self.tensor(tensor))
      case (12, .message(let tensor)): self.outputs.append(try Self.tensor(tensor))
      default: break
      }
    }
    // Older files list their weights among the inputs.
    self.inputs.removeAll { weights.contains($0.name) }
  }

  private static func entry(_ message: ProtobufReader) throws(Problem) -> (String, String) {
    (try self.text(1, of: message), try self.text(2, of: message))
  }

  private static func text(_ number: UInt64, of message: ProtobufReader) throws(Problem) -> String {
    var reader = message
    var text = ""
    while let field = try reader.next() {
      if field.number == number, case .message(let value) = field.value { text = value.text }
    }
    return text
  }

  private static func tensor(_ message: ProtobufReader) throws(Problem) -> Tensor {
    var tensor = Tensor()
    var reader = message
    while let field = try reader.next() {
      switch (field.number, field.value) {
      case (1, .message(let name)): tensor.name = name.text
      case (2, .message(var type)):
        while let field = try type.next() {
          if field.number == 1, case .message(let value) = field.value { try self.read(value, into: &tensor) }
        }
      default: break
      }
    }
    return tensor
  }

  private static func read(_ message: ProtobufReader, into tensor: inout Tensor) throws(Problem) {
    var reader = message
    while let field = try reader.next() {
      switch (field.number, field.value) {
      case (1, .number(let type)): tensor.type = type == 1 ? .float : type == 7 ? .int64 : .other
      case (2, .message(var shape)):
        var dimensions: [Int?] = []
        while let field = try shape.next() {
          guard field.number == 1, case .message(var dimension) = field.value else { continue }
          var length: Int?
          while let field = try dimension.next() {
            if field.number == 1, case .number(let value) = field.value { length = Int(exactly: value) }
          }
          dimensions.append(length)
        }
        tensor.shape = dimensions
      default: break
      }
    }
  }
}

/// Goes through the fields of a protobuf message, without taking anything in it on trust.
private struct ProtobufReader {
  enum Value {
    case number(UInt64)
    /// A message, a text or bytes.
    case message(ProtobufReader)
    case other
  }

  private var rest: Slice<UnsafeRawBufferPointer>

  init(_ bytes: UnsafeRawBufferPointer) { self.rest = bytes[...] }

  private init(_ rest: Slice<UnsafeRawBufferPointer>) { self.rest = rest }

  var text: String { String(decoding: self.rest, as: UTF8.self) }

  /// The next field, or `nil` at the end.
  mutating func next() throws(ONNXHeader.Problem) -> (number: UInt64, value: Value)? {
    guard !self.rest.isEmpty else { return nil }
    let key = try self.varint()
    switch key & 7 {
    case 0: return (key >> 3, .number(try self.varint()))
    case 1: return (key >> 3, try self.skip(8))
    case 2:
      guard let length = Int(exactly: try self.varint()), length <= self.rest.count else { throw .notONNX }
      defer { self.rest = self.rest.dropFirst(length) }
      return (key >> 3, .message(ProtobufReader(self.rest.prefix(length))))
    case 5: return (key >> 3, try self.skip(4))
    default: throw .notONNX
    }
  }

  private mutating func skip(_ count: Int) throws(ONNXHeader.Problem) -> Value {
    guard count <= self.rest.count else { throw .notONNX }
    self.rest = self.rest.dropFirst(count)
    return .other
  }

  private mutating func varint() throws(ONNXHeader.Problem) -> UInt64 {
    var value: UInt64 = 0
    for shift in stride(from: UInt64(0), to: 64, by: 7) {
      guard let byte = self.rest.popFirst() else { throw .notONNX }
      value |= UInt64(byte & 0x7f) << shift
      if byte < 0x80 { return value }
    }
    throw .notONNX
  }
}

import Foundation

/// Writes files that are like those of the tiny model, but for something that is wrong with them.
enum ModelFile {
  /// The contents of an ONNX file with other metadata; `nil` removes an entry.
  static func setting(_ key: String, to value: String?, in data: Data) -> Data {
    var result = Data()
    for (number, field) in self.fields(of: data) where number != 14 || self.key(of: field) != key {
      result += field
    }
    guard let value else { return result }
    let entry = self.text(1, key) + self.text(2, value)
    return result + [14 << 3 | 2] + self.varint(entry.count) + entry
  }

  /// The fields of a message, with their numbers, whole.
  private static func fields(of data: Data) -> [(Int, Data)] {
    var fields: [(Int, Data)] = []
    var rest = data[...]
    func varint() -> Int {
      var value = 0
      for shift in stride(from: 0, to: 63, by: 7) {
        let byte = rest.popFirst() ?? 0
        value |= Int(byte & 0x7f) << shift
        if byte < 0x80 { break }
      }
      return value
    }
    while !rest.isEmpty {
      let start = rest.startIndex
      let key = varint()
      let length = varint()
      if key & 7 == 2 { rest = rest.dropFirst(length) }
      fields.append((key >> 3, Data(data[start..<rest.startIndex])))
    }
    return fields
  }

  private static func key(of entry: Data) -> String {
    // The tag and length of the entry and of its key are one byte each.
    String(decoding: entry.dropFirst(4).prefix(Int(entry.dropFirst(3).first ?? 0)), as: UTF8.self)
  }

  private static func text(_ number: Int, _ text: String) -> Data {
    Data([UInt8(number << 3 | 2)] + self.varint(text.utf8.count)) + Data(text.utf8)
  }

  private static func varint(_ value: Int) -> [UInt8] {
    value < 0x80 ? [UInt8(value)] : [UInt8(value & 0x7f | 0x80)] + self.varint(value >> 7)
  }
}

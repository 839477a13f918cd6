/// `ai_conversation` in either direction: a conversation with an assistant in a call (telnyx.md sections 1.8 and 2.2).
public struct AIConversation: Hashable, Sendable {
  /// What it is, such as `conversation.item.create`.
  public var type: String
  /// Everything else, as it came.
  public var body: JSONObject

  /// Creates a message of any type.
  public init(type: String, body: JSONObject = JSONObject()) {
    self.type = type
    self.body = body
  }

  /// A message of the person, with images as `data:` URLs.
  public static func message(id: String, text: String, imageURLs: [String] = []) -> AIConversation {
    var content: [JSON] = [["type": "input_text", "text": .string(text)]]
    for url in imageURLs {
      content.append(["type": "image_url", "image_url": ["url": .string(url)]])
    }
    return AIConversation(
      type: "conversation.item.create",
      body: [
        "previous_item_id": .null,
        "item": ["id": .string(id), "type": "message", "role": "user", "content": .array(content)],
      ])
  }

  /// The answer of a tool; sent without id (telnyx.md section 2.1).
  public static func functionOutput(callID: String, output: String) -> AIConversation {
    AIConversation(
      type: "conversation.item.create",
      body: [
        "item": [
          "type": "function_call_output", "call_id": .string(callID), "output": .string(output),
        ]
      ])
  }

  init(reading reader: inout FieldReader) throws(FrameError) {
    self.type = try reader.requiredString("type")
    self.body = reader.rest
  }

  var params: JSONObject {
    var object: JSONObject = ["type": .string(self.type)]
    object.add(self.body)
    return object
  }

  /// What a server says in it, typed.
  public enum Event: Hashable, Sendable {
    /// `response.text.delta`: more text of an item of the assistant.
    case textDelta(String, itemID: String?, responseID: String?)
    /// `conversation.item.created`: an item, such as what the person said.
    case itemCreated(Item)
    /// `widget_settings`: how the assistant wants to look.
    case widgetSettings(JSONObject)
    /// Anything else.
    case other
  }

  /// An item of the conversation.
  public struct Item: Hashable, Sendable {
    /// Its id.
    public var id: String?
    /// `message`, `function_call`, ….
    public var type: String?
    /// `user` or `assistant`.
    public var role: String?
    /// `in_progress` or `completed`.
    public var status: String?
    /// All text in it, joined.
    public var text: String
    /// The item as it came.
    public var json: JSONObject
  }

  /// The message as an event; `other` if it is none or lacks what makes it one.
  public var event: Event {
    switch self.type {
    case "response.text.delta":
      guard let delta = self.body["delta"]?.stringValue else { return .other }
      return .textDelta(
        delta, itemID: self.body["item_id"]?.stringValue, responseID: self.body["response_id"]?.stringValue)
    case "conversation.item.created":
      guard let item = self.body["item"]?.objectValue else { return .other }
      return .itemCreated(
        Item(
          id: item["id"]?.stringValue, type: item["type"]?.stringValue, role: item["role"]?.stringValue,
          status: item["status"]?.stringValue, text: Self.text(of: item["content"]), json: item))
    case "widget_settings":
      return .widgetSettings(self.body)
    default:
      return .other
    }
  }

  /// The content is a text, or a list of parts with a text or a transcript (telnyx.md section 1.8).
  private static func text(of content: JSON?) -> String {
    switch content {
    case .string(let text): text
    case .array(let parts):
      parts.compactMap { $0.stringValue ?? $0["text"]?.stringValue ?? $0["transcript"]?.stringValue }.joined()
    case .null, .bool, .number, .object, nil: ""
    }
  }
}

/// A report of a client's statistics; the one message without a method (telnyx.md section 2.2).
public struct DebugReport: Hashable, Sendable {
  /// Which part it is.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    case start = "debug_report_start"
    case data = "debug_report_data"
    case stop = "debug_report_stop"
  }

  /// Which part it is.
  public var kind: Kind
  /// The id of the report.
  public var reportID: String
  /// Everything else.
  public var body: JSONObject

  /// Creates a part of a report.
  public init(_ kind: Kind, reportID: String, body: JSONObject = JSONObject()) {
    self.kind = kind
    self.reportID = reportID
    self.body = body
  }
}

/// An answer of a server's speed test: a text frame that is not JSON (telnyx.md section 2.1).
public enum SpeedTest: Hashable, Sendable {
  /// `#SPU`: how long the upload took.
  case up(Duration)
  /// `#SPD`: how long the download took.
  case down(Duration)
  /// Another line of a speed test.
  case other(String)

  init?(_ text: String) {
    guard text.hasPrefix("#SP") else { return nil }
    let number = Int64(text.dropFirst(4).trimming { $0 == " " })
    switch (text.dropFirst(3).first, number) {
    case ("U", let milliseconds?): self = .up(.milliseconds(milliseconds))
    case ("D", let milliseconds?): self = .down(.milliseconds(milliseconds))
    default: self = .other(String(text.prefix(256)))
    }
  }

  var text: String {
    switch self {
    case .up(let duration): "#SPU\(Int64(duration / .milliseconds(1)))"
    case .down(let duration): "#SPD\(Int64(duration / .milliseconds(1)))"
    case .other(let text): text
    }
  }
}

extension Substring {
  fileprivate func trimming(_ isSpace: (Character) -> Bool) -> Substring {
    var text = self.drop(while: isSpace)
    while let last = text.last, isSpace(last) { text.removeLast() }
    return text
  }
}

import VoiceCore

/// The kinds of encoders, with the metadata that sherpa-onnx reads of each and the state that each carries along.
///
/// The names are those of the exporting scripts of icefall, which are what sherpa-onnx looks for:
/// https://k2-fsa.github.io/sherpa/onnx/pretrained_models/online-transducer/index.html
enum EncoderArchitecture: String, CaseIterable, Sendable {
  case conformer
  case ebranchformer
  case lstm
  case zipformer
  case zipformer2

  /// Checks the metadata of an encoder, and that its inputs and outputs are as many as follow from them.
  func check(_ encoder: ModelPart) throws(VoiceFailure) {
    func number(_ key: String) throws(VoiceFailure) -> Double {
      Double(try encoder.number(key, in: 0...100_000))
    }
    switch self {
    case .lstm:
      let state = try number("d_model") + number("rnn_hidden_size")
      try Self.checkMemory(try number("num_encoder_layers") * state, encoder)
      try Self.checkState(encoder, inputs: 3, outputs: 3)
    case .conformer:
      _ = try number("pad_length")
      let state = try (number("left_context") + number("cnn_module_kernel")) * number("encoder_dim")
      try Self.checkMemory(try number("num_encoder_layers") * state, encoder)
      try Self.checkState(encoder, inputs: 4, outputs: 3)
    case .ebranchformer:
      let layers = try encoder.number("num_hidden_layers", in: 1...1000)
      let attention = try number("num_heads") * number("left_context_len") * number("head_dim")
      let convolution =
        try number("intermediate_size") * number("csgu_kernel_size")
        + 2 * number("hidden_size") * number("merge_conv_kernel")
      try Self.checkMemory(Double(layers) * (2 * attention + convolution), encoder)
      try Self.checkState(encoder, inputs: 2 + 4 * layers, outputs: 2 + 4 * layers)
    case .zipformer:
      let keys = [
        "encoder_dims", "attention_dims", "num_encoder_layers", "cnn_module_kernels", "left_context_len",
      ]
      let stacks = try Self.stacks(keys, of: encoder)
      try Self.checkMemory(
        stacks.reduce(0) { $0 + $1[2] * (1 + $1[0] + 2 * $1[4] * $1[1] + 2 * $1[0] * $1[3]) }, encoder)
      try Self.checkState(encoder, inputs: 1 + 7 * stacks.count, outputs: 1 + 7 * stacks.count)
    case .zipformer2:
      let keys = [
        "encoder_dims", "query_head_dims", "value_head_dims", "num_heads", "num_encoder_layers",
        "cnn_module_kernels",
        "left_context_len",
      ]
      let stacks = try Self.stacks(keys, of: encoder)
      try Self.checkMemory(
        stacks.reduce(0) { sum, stack in
          let attention = stack[6] * (stack[1] * stack[3] + stack[0] + 2 * stack[2] * stack[3])
          return sum + stack[4] * (attention + stack[0] * stack[5])
        }, encoder)
      let layers = Int(stacks.reduce(0) { $0 + $1[4] })
      try Self.checkState(encoder, inputs: 3 + 6 * layers, outputs: 3 + 6 * layers)
    }
  }

  /// The metadata of stacks of layers: for each stack one number of each key.
  private static func stacks(_ keys: [String], of encoder: ModelPart) throws(VoiceFailure) -> [[Double]] {
    var columns: [[Int]] = []
    for key in keys { columns.append(try encoder.numbers(key, in: 1...100_000)) }
    let count = columns.first?.count ?? 0
    guard columns.allSatisfy({ $0.count == count }) else {
      throw encoder.invalid(
        "has metadata that do not fit: \(keys.joined(separator: ", ")) must be equally many numbers")
    }
    return (0..<count).map { index in columns.map { Double($0[index]) } }
  }

  /// The state of published models is a few million numbers.
  private static let mostNumbers = 64_000_000.0

  private static func checkMemory(_ count: Double, _ encoder: ModelPart) throws(VoiceFailure) {
    guard count <= self.mostNumbers else {
      throw encoder.invalid(
        "says in its metadata that its state has \(Int(min(count, 1e15))) numbers, which cannot be")
    }
  }

  /// Checks that the first input and output are frames, and that state comes out as it goes in.
  private static func checkState(_ encoder: ModelPart, inputs: Int, outputs: Int) throws(VoiceFailure) {
    let (given, taken) = (encoder.header.outputs, encoder.header.inputs)
    guard taken.count == inputs, given.count == outputs else {
      throw encoder.invalid(
        "has \(taken.count) inputs and \(given.count) outputs; by its metadata it must have \(inputs) and \(outputs)"
      )
    }
    for (index, (input, output)) in zip(taken, given).enumerated() {
      let isFrames = index == 0
      let isRight =
        isFrames
        ? input.type == .float && output.type == .float : input.type == output.type && input.type != .other
      let ranks = (input.shape?.count, output.shape?.count)
      guard isRight, ranks.0 == nil || ranks.1 == nil || ranks.0 == ranks.1, !isFrames || (ranks.0 ?? 3) == 3,
        !isFrames || (ranks.1 ?? 3) == 3
      else {
        throw encoder.invalid("has an input “\(input.name)” that does not fit its output “\(output.name)”")
      }
    }
    // The recogniser hears one stream at a time.
    try encoder.check("gives", encoder.outputLength(0, at: 0), 1, "results at a time")
  }
}

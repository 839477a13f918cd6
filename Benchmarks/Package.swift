// swift-tools-version: 6.2
import PackageDescription

let swiftSettings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
  name: "swift-voice-benchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "swift-voice", path: ".."),
    .package(url: "https://github.com/grpc/grpc-swift-2", from: "2.4.0"),
    .package(url: "https://github.com/grpc/grpc-swift-nio-transport", from: "2.9.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
  ],
  targets: [
    .executableTarget(
      name: "bench-server",
      dependencies: [
        .product(name: "VoiceCore", package: "swift-voice"),
        .product(name: "SpeechPipeline", package: "swift-voice"),
        .product(name: "SpeechProtocol", package: "swift-voice"),
        .product(name: "VoiceServer", package: "swift-voice"),
        .product(name: "GRPCCore", package: "grpc-swift-2"),
        .product(name: "GRPCNIOTransportHTTP2", package: "grpc-swift-nio-transport"),
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: swiftSettings),
    .executableTarget(
      name: "bench-media",
      dependencies: [
        .product(name: "CallMedia", package: "swift-voice"),
        .product(name: "RealtimeMedia", package: "swift-voice"),
      ],
      swiftSettings: swiftSettings),
    .executableTarget(
      name: "voice-bench",
      dependencies: [
        .product(name: "VoiceAudio", package: "swift-voice"),
        .product(name: "VoiceCore", package: "swift-voice"),
        .product(name: "SpeechPipeline", package: "swift-voice"),
        .product(name: "SpeechUnderstanding", package: "swift-voice"),
        .product(name: "PocketSphinxRecognition", package: "swift-voice"),
      ],
      swiftSettings: swiftSettings),
  ]
)

// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "dictation",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "swift-voice", path: "../..")],
  targets: [
    .executableTarget(
      name: "dictation",
      dependencies: [
        .product(name: "SpeechRecognition", package: "swift-voice"),
        .product(name: "VoiceAudio", package: "swift-voice"),
        .product(name: "VoiceCore", package: "swift-voice"),
        .product(name: "VoicePlatform", package: "swift-voice"),
      ],
      swiftSettings: [.swiftLanguageMode(.v6)])
  ])

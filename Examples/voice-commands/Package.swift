// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "voice-commands",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "swift-voice", path: "../..")],
  targets: [
    .executableTarget(
      name: "voice-commands",
      dependencies: [
        .product(name: "SpeechRecognition", package: "swift-voice"),
        .product(name: "SpeechUnderstanding", package: "swift-voice"),
        .product(name: "VoiceAudio", package: "swift-voice"),
        .product(name: "VoiceCore", package: "swift-voice"),
      ],
      swiftSettings: [.swiftLanguageMode(.v6)])
  ])

// swift-tools-version: 6.2
import PackageDescription

let swiftSettings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

// The modules under test are links into the main package, so that they are built with the sanitizers and without all
// of its dependencies. Build it with dev/test-fuzz.sh, and its tests with dev/test-asan.sh.
let package = Package(
  name: "swift-voice-fuzz",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0"),
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.0"),
  ],
  targets: [
    .target(name: "VoiceCore", swiftSettings: swiftSettings),
    .target(
      name: "SpeechUnderstanding", dependencies: ["VoiceCore", .product(name: "Yams", package: "Yams")],
      swiftSettings: swiftSettings),
    .target(name: "CallSignaling", dependencies: ["VoiceCore"], swiftSettings: swiftSettings),
    .systemLibrary(name: "CMediaOpenSSL", pkgConfig: "openssl"),
    .systemLibrary(name: "CMediaSRTP", pkgConfig: "libsrtp2"),
    .systemLibrary(name: "CMediaOpus", pkgConfig: "opus"),
    .target(name: "CRealtimeMedia", dependencies: ["CMediaOpenSSL", "CMediaSRTP", "CMediaOpus"]),
    .target(
      name: "RealtimeMedia",
      dependencies: ["VoiceCore", "CRealtimeMedia", .product(name: "Crypto", package: "swift-crypto")],
      swiftSettings: swiftSettings),
    .systemLibrary(name: "CSndFile", pkgConfig: "sndfile"),
    .systemLibrary(name: "CSpeexDSP", pkgConfig: "speexdsp"),
    .target(
      name: "VoiceAudio", dependencies: ["VoiceCore", "CSndFile", "CSpeexDSP"], swiftSettings: swiftSettings),
    // Only what is needed here of it.
    .target(name: "VoiceTesting", swiftSettings: swiftSettings),
    .testTarget(
      name: "RealtimeMediaTests",
      dependencies: [
        "VoiceCore", "VoiceAudio", "VoiceTesting", "RealtimeMedia", "CRealtimeMedia",
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "CryptoExtras", package: "swift-crypto"),
      ],
      swiftSettings: swiftSettings),
    .target(name: "FuzzSupport", swiftSettings: swiftSettings),
    .executableTarget(
      name: "fuzz-media", dependencies: ["RealtimeMedia", "FuzzSupport"], swiftSettings: swiftSettings),
    .executableTarget(
      name: "fuzz-connection", dependencies: ["VoiceCore", "RealtimeMedia", "VoiceTesting", "FuzzSupport"],
      swiftSettings: swiftSettings),
    .executableTarget(
      name: "fuzz-signaling", dependencies: ["CallSignaling", "FuzzSupport"], swiftSettings: swiftSettings),
    .executableTarget(
      name: "fuzz-understanding", dependencies: ["SpeechUnderstanding", "FuzzSupport"],
      swiftSettings: swiftSettings),
  ]
)

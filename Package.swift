// swift-tools-version: 6.2
import PackageDescription

let swiftSettings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

/// A Swift module under `Sources/`, with the project's settings.
func module(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .target(name: name, dependencies: dependencies, swiftSettings: swiftSettings)
}

/// The tests of one module under `Tests/<module>Tests`.
func tests(of name: String, _ dependencies: [Target.Dependency]) -> Target {
  .testTarget(
    name: "\(name)Tests", dependencies: [.target(name: name)] + dependencies,
    swiftSettings: swiftSettings)
}

let applePlatforms: [Platform] = [.macOS, .iOS, .macCatalyst, .tvOS, .visionOS]

extension Target.Dependency {
  static let grpcCore = product(name: "GRPCCore", package: "grpc-swift-2")
  static let grpcInProcess = product(name: "GRPCInProcessTransport", package: "grpc-swift-2")
  static let grpcNIO = product(name: "GRPCNIOTransportHTTP2", package: "grpc-swift-nio-transport")
  static let grpcProtobuf = product(name: "GRPCProtobuf", package: "grpc-swift-protobuf")
  static let swiftProtobuf = product(name: "SwiftProtobuf", package: "swift-protobuf")
  static let nioCore = product(name: "NIOCore", package: "swift-nio")
  static let nioPosix = product(name: "NIOPosix", package: "swift-nio")
  static let nioHTTP1 = product(name: "NIOHTTP1", package: "swift-nio")
  static let nioWebSocket = product(name: "NIOWebSocket", package: "swift-nio")
  static let nioHTTPTypes = product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras")
  static let cryptoExtras = product(name: "CryptoExtras", package: "swift-crypto")
  static let grdb = product(name: "GRDB", package: "GRDB.swift")
  static let nioTLS = product(name: "NIOTLS", package: "swift-nio")
  static let nioSSL = product(name: "NIOSSL", package: "swift-nio-ssl")
  static let hummingbird = product(name: "Hummingbird", package: "hummingbird")
  static let hummingbirdTesting = product(name: "HummingbirdTesting", package: "hummingbird")
  static let jwtKit = product(name: "JWTKit", package: "jwt-kit")
  static let crypto = product(name: "Crypto", package: "swift-crypto")
  static let yams = product(name: "Yams", package: "Yams")
  static let logging = product(name: "Logging", package: "swift-log")
  static let metrics = product(name: "Metrics", package: "swift-metrics")
  static let coreMetrics = product(name: "CoreMetrics", package: "swift-metrics")
  static let lifecycle = product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
  static let unixSignals = product(name: "UnixSignals", package: "swift-service-lifecycle")
  static let collections = product(name: "DequeModule", package: "swift-collections")
  /// Fetched only for apps that want the trait. It has no tvOS and no visionOS.
  static let webRTC = product(
    name: "WebRTC", package: "WebRTC",
    condition: .when(platforms: [.macOS, .iOS, .macCatalyst], traits: ["WebRTCFramework"]))
  static let argumentParser = product(name: "ArgumentParser", package: "swift-argument-parser")
}

let package = Package(
  name: "swift-voice",
  platforms: [.macOS(.v15), .iOS(.v18), .macCatalyst(.v18), .tvOS(.v18), .visionOS(.v2)],
  products: [
    .library(name: "VoiceCore", targets: ["VoiceCore"]),
    .library(name: "VoiceAudio", targets: ["VoiceAudio"]),
    .library(name: "VoicePlatform", targets: ["VoicePlatform"]),
    .library(name: "SpeechUnderstanding", targets: ["SpeechUnderstanding"]),
    .library(name: "SpeechPipeline", targets: ["SpeechPipeline"]),
    .library(name: "PocketSphinxRecognition", targets: ["PocketSphinxRecognition"]),
    .library(name: "SherpaOnnxRecognition", targets: ["SherpaOnnxRecognition"]),
    .library(name: "AppleSpeechRecognition", targets: ["AppleSpeechRecognition"]),
    .library(name: "SpeechRecognition", targets: ["SpeechRecognition"]),
    .library(name: "SpeechProtocol", targets: ["SpeechProtocol"]),
    .library(name: "SpeechStreaming", targets: ["SpeechStreaming"]),
    .library(name: "CallSignaling", targets: ["CallSignaling"]),
    .library(name: "Calls", targets: ["Calls"]),
    .library(name: "RealtimeMedia", targets: ["RealtimeMedia"]),
    .library(name: "CallMedia", targets: ["CallMedia"]),
    .library(name: "AppleCallMedia", targets: ["AppleCallMedia"]),
    .library(name: "VoiceServer", targets: ["VoiceServer"]),
    .library(name: "VoiceCommands", targets: ["VoiceCommands"]),
    .library(name: "VoiceViews", targets: ["VoiceViews"]),
    .library(name: "VoiceTesting", targets: ["VoiceTesting"]),
    .executable(name: "voice", targets: ["voice"]),
  ],
  traits: [
    .trait(
      name: "WebRTCFramework",
      description: "Brings Google's WebRTC.framework, a binary, for the media of AppleCallMedia.")
  ],
  dependencies: [
    .package(url: "https://github.com/grpc/grpc-swift-2", from: "2.4.0"),
    .package(url: "https://github.com/grpc/grpc-swift-nio-transport", from: "2.9.0"),
    .package(url: "https://github.com/grpc/grpc-swift-protobuf", from: "2.4.0"),
    .package(url: "https://github.com/apple/swift-protobuf", from: "1.39.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
    .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.0"),
    .package(url: "https://github.com/apple/swift-crypto", "4.5.0"..<"6.0.0"),
    .package(url: "https://github.com/apple/swift-nio-ssl.git", from: "2.37.0"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.0"),
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    .package(url: "https://github.com/stasel/WebRTC", "117.0.0"..<"1000.0.0"),
  ],
  targets: [
    .systemLibrary(
      name: "CPocketSphinx", pkgConfig: "pocketsphinx",
      providers: [.apt(["libpocketsphinx-dev", "libsphinxbase-dev", "pocketsphinx-en-us"])]),
    .systemLibrary(
      name: "CFlite", providers: [.apt(["flite1-dev"]), .brew(["flite"])]),
    .systemLibrary(
      name: "CSndFile", pkgConfig: "sndfile",
      providers: [.apt(["libsndfile1-dev"]), .brew(["libsndfile"])]),
    .systemLibrary(
      name: "CSpeexDSP", pkgConfig: "speexdsp",
      providers: [.apt(["libspeexdsp-dev"]), .brew(["speexdsp"])]),
    .systemLibrary(
      name: "CALSA", pkgConfig: "alsa", providers: [.apt(["libasound2-dev"])]),
    .systemLibrary(
      name: "CMediaOpenSSL", pkgConfig: "openssl",
      providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]),
    .systemLibrary(
      name: "CMediaSRTP", pkgConfig: "libsrtp2",
      providers: [.apt(["libsrtp2-dev"]), .brew(["srtp"])]),
    .systemLibrary(
      name: "CMediaOpus", pkgConfig: "opus",
      providers: [.apt(["libopus-dev"]), .brew(["opus"])]),
    .target(name: "CRealtimeMedia", dependencies: ["CMediaOpenSSL", "CMediaSRTP", "CMediaOpus"]),
    .target(name: "CPocketSphinxShim", dependencies: ["CPocketSphinx"]),
    .target(name: "COnnxRuntime"),
    .target(name: "CRNNoise"),
    .target(name: "CSherpaOnnx"),

    module("VoiceCore", []),
    module("VoiceAudio", ["VoiceCore", "CSndFile", "CSpeexDSP"]),
    module(
      "VoicePlatform",
      [
        "VoiceCore", "VoiceAudio",
        .target(name: "CALSA", condition: .when(platforms: [.linux])),
      ]),
    module("SpeechUnderstanding", ["VoiceCore", .yams]),
    module("SpeechPipeline", ["VoiceCore", "VoiceAudio", "SpeechUnderstanding", "COnnxRuntime"]),
    module(
      "PocketSphinxRecognition",
      [
        "VoiceCore", "VoiceAudio", "SpeechUnderstanding", "SpeechPipeline", "CPocketSphinx",
        "CPocketSphinxShim", "CFlite", "CRNNoise",
      ]),
    module("AppleSpeechRecognition", ["VoiceCore", "VoiceAudio", "VoicePlatform", "SpeechPipeline"]),
    module(
      "SpeechRecognition",
      [
        "VoiceCore", "VoiceAudio", "VoicePlatform", "SpeechUnderstanding", "SpeechPipeline",
        .target(name: "PocketSphinxRecognition", condition: .when(platforms: [.linux])),
        .target(name: "AppleSpeechRecognition", condition: .when(platforms: applePlatforms)),
      ]),
    module("SherpaOnnxRecognition", ["VoiceCore", "VoiceAudio", "SpeechPipeline", "CSherpaOnnx"]),
    module("VoiceViews", ["VoiceCore"]),
    module("SpeechProtocol", [.grpcCore, .grpcProtobuf, .swiftProtobuf]),
    module("SpeechMessages", ["VoiceCore", "VoiceAudio", "SpeechPipeline", "SpeechProtocol"]),
    module(
      "SpeechStreaming",
      [
        "VoiceCore", "VoiceAudio", "VoicePlatform", "SpeechUnderstanding", "SpeechPipeline", "SpeechProtocol",
        "SpeechMessages",
        .grpcCore, .grpcNIO, .grpcProtobuf, .swiftProtobuf, .nioCore, .nioPosix, .logging,
        .collections,
      ]),
    module("CallSignaling", ["VoiceCore"]),
    module("RealtimeMedia", ["VoiceCore", "CRealtimeMedia", .crypto]),
    module(
      "VoiceWebSocket", ["VoiceCore", .nioCore, .nioPosix, .nioHTTP1, .nioTLS, .nioWebSocket, .nioSSL]),
    module(
      "CallMedia",
      ["VoiceCore", "VoiceAudio", "VoicePlatform", "RealtimeMedia", .nioCore, .nioPosix, .nioSSL, .nioTLS]),
    module(
      "Calls",
      [
        "VoiceCore", "VoicePlatform", "CallSignaling", "CallMedia", "RealtimeMedia", "VoiceWebSocket",
        .nioCore,
      ]),
    module(
      "AppleCallMedia",
      [
        "VoiceCore", "VoicePlatform", "CallSignaling", "CallMedia", "Calls", "RealtimeMedia", .webRTC,
      ]),
    module(
      "VoiceServer",
      [
        "VoiceCore", "VoiceAudio", "VoicePlatform", "SpeechUnderstanding", "SpeechPipeline",
        "PocketSphinxRecognition", "CFlite",
        "SpeechProtocol", "SpeechMessages", "CallSignaling", "CallMedia", "RealtimeMedia", "VoiceWebSocket",
        .grpcCore, .grpcNIO, .grpcProtobuf,
        .swiftProtobuf, .nioCore, .nioPosix, .nioHTTP1, .nioWebSocket, .nioHTTPTypes, .nioSSL, .hummingbird,
        .cryptoExtras, .grdb,
        .jwtKit, .yams, .logging, .metrics, .coreMetrics, .lifecycle,
        .collections,
      ]),
    module(
      "VoiceTesting",
      [
        "VoiceCore", "VoiceAudio", "SpeechUnderstanding", "SpeechPipeline", "SpeechProtocol",
        "SpeechStreaming", "CallSignaling", "CallMedia", "Calls", "RealtimeMedia", "VoiceWebSocket",
        .nioCore, .nioPosix, .nioHTTP1,
      ]),
    module(
      "VoiceCommands",
      [
        "VoiceCore", "VoiceAudio", "VoicePlatform", "SpeechUnderstanding", "SpeechPipeline",
        "PocketSphinxRecognition", "SherpaOnnxRecognition", "SpeechProtocol", "SpeechStreaming",
        "CallSignaling", "CallMedia", "Calls", "RealtimeMedia", "VoiceServer", "VoiceTesting",
        "CSndFile", .grpcCore,
        .grpcNIO, .grpcProtobuf, .swiftProtobuf, .nioCore, .nioPosix, .argumentParser, .unixSignals,
        .logging,
      ]),
    .executableTarget(name: "voice", dependencies: ["VoiceCommands"], swiftSettings: swiftSettings),

    tests(of: "VoiceCore", ["VoiceTesting"]),
    tests(of: "VoiceAudio", ["VoiceTesting"]),
    tests(of: "VoicePlatform", ["VoiceTesting"]),
    tests(of: "SpeechUnderstanding", ["VoiceCore", "VoiceTesting"]),
    tests(of: "SpeechPipeline", ["SpeechUnderstanding", "VoiceTesting"]),
    tests(of: "PocketSphinxRecognition", ["SpeechUnderstanding", "SpeechPipeline", "VoiceTesting"]),
    tests(of: "SherpaOnnxRecognition", ["VoiceCore", "VoiceAudio", "SpeechPipeline", "VoiceTesting"]),
    tests(
      of: "AppleSpeechRecognition",
      ["VoiceCore", "VoiceAudio", "VoicePlatform", "SpeechPipeline", "VoiceTesting"]),
    tests(of: "VoiceViews", ["VoiceCore"]),
    tests(of: "SpeechMessages", ["SpeechPipeline", "SpeechProtocol", "VoiceTesting"]),
    tests(
      of: "SpeechRecognition",
      [
        "VoiceCore", "VoiceAudio", "VoicePlatform", "SpeechUnderstanding", "SpeechPipeline",
        "PocketSphinxRecognition", "VoiceTesting",
      ]),
    tests(
      of: "SpeechStreaming",
      [
        "VoiceCore", "VoiceAudio", "VoicePlatform", "SpeechUnderstanding", "SpeechPipeline", "SpeechProtocol",
        "VoiceTesting", .grpcCore,
        .swiftProtobuf,
        .nioCore, .nioPosix,
      ]),
    tests(of: "CallSignaling", ["VoiceCore", "VoiceTesting"]),
    tests(
      of: "RealtimeMedia",
      ["VoiceCore", "CRealtimeMedia", "CMediaOpus", "VoiceTesting", .crypto, .cryptoExtras]),
    tests(
      of: "CallMedia",
      ["VoiceCore", "VoiceAudio", "VoicePlatform", "RealtimeMedia", "VoiceTesting", .nioCore, .nioPosix]),
    tests(
      of: "VoiceWebSocket",
      [
        "VoiceCore", "VoiceTesting", .crypto, .nioCore, .nioPosix, .nioHTTP1, .nioTLS, .nioWebSocket, .nioSSL,
      ]),
    tests(
      of: "Calls",
      [
        "VoiceCore", "VoicePlatform", "CallSignaling", "RealtimeMedia", "VoiceWebSocket", "VoiceTesting",
        .nioCore,
        .nioPosix, .nioHTTP1,
      ]),
    tests(
      of: "AppleCallMedia",
      ["VoiceCore", "VoicePlatform", "CallSignaling", "CallMedia", "Calls", "RealtimeMedia", "VoiceTesting"]),
    tests(
      of: "VoiceServer",
      [
        "VoiceCore", "VoiceAudio", "SpeechUnderstanding", "SpeechPipeline", "PocketSphinxRecognition",
        "SpeechProtocol", "SpeechMessages", "CallSignaling", "CallMedia", "VoiceWebSocket",
        "VoiceTesting", .grpcCore, .grpcNIO, .grpcProtobuf, .swiftProtobuf, .nioCore, .nioPosix,
        .hummingbirdTesting, .jwtKit, .logging, .coreMetrics, .lifecycle,
      ]),
    tests(
      of: "VoiceCommands",
      [
        "VoiceCore", "VoiceAudio", "VoicePlatform", "SpeechUnderstanding", "SpeechPipeline",
        "PocketSphinxRecognition",
        "SpeechRecognition", "SherpaOnnxRecognition", "SpeechStreaming", "CallMedia", "CallSignaling",
        "Calls",
        "RealtimeMedia", "VoiceServer", "VoiceTesting", .argumentParser, .logging, .nioCore,
      ]),
    tests(of: "VoiceTesting", ["SpeechUnderstanding", "SpeechPipeline", .nioCore, .nioPosix]),
    .testTarget(
      name: "IntegrationTests",
      dependencies: [
        "VoiceCore", "VoiceAudio", "VoicePlatform", "SpeechUnderstanding", "SpeechPipeline",
        "SpeechStreaming", "CallSignaling", "CallMedia", "Calls", "RealtimeMedia",
        "VoiceServer", "PocketSphinxRecognition", "VoiceTesting", "VoiceCommands", .nioCore, .logging,
      ],
      swiftSettings: swiftSettings),
  ]
)

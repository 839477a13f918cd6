// swift-tools-version: 6.2
import Foundation
import PackageDescription

let swiftSettings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .treatAllWarnings(as: .error),
]

/// The files of a module's folder `Platforms` that are for Linux; in this package the others are compiled.
func linuxFiles(of module: String) -> [String] {
  ["Platforms/", "Module/Platforms/"].flatMap { folder in
    let path = Context.packageDirectory + "/Sources/" + module + "/" + folder
    let files = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    return files.filter { $0.hasSuffix("+Linux.swift") }.map { folder + $0 }
  }
}

/// The files of a module besides some of them.
func files(of module: String, besides sources: [String]) -> [String] {
  let files = try? FileManager.default.subpathsOfDirectory(
    atPath: Context.packageDirectory + "/Sources/" + module + "/")
  return (files ?? []).filter { file in
    file.hasSuffix(".swift") && !sources.contains { file == $0 || file.hasPrefix($0 + "/") }
  }
}

/// A module of the main package: its folder under `Sources` is a link, or holds one beside what Linux lacks.
///
/// - Parameter sources: The files and folders that are compiled; `nil` for all.
func module(_ name: String, _ dependencies: [Target.Dependency], sources: [String]? = nil) -> Target {
  .target(
    name: name, dependencies: dependencies,
    exclude: linuxFiles(of: name) + (sources.map { files(of: name, besides: $0) } ?? []), sources: sources,
    swiftSettings: swiftSettings)
}

/// Declarations of what is used of one of Apple's frameworks.
func framework(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
  .target(name: name, dependencies: dependencies, swiftSettings: swiftSettings)
}

// Compiles the files for Apple platforms on Linux, against frameworks that are declared here, and drives them by what the
// declared frameworks tell. Run it with dev/check-apple.sh; it is of no use on a Mac, where the real frameworks are.
let package = Package(
  name: "swift-voice-apple-typecheck",
  dependencies: [.package(url: "https://github.com/jpsim/Yams", from: "6.2.0")],
  targets: [
    framework("CoreMedia"),
    framework("AVFoundation"),
    framework("Speech", ["AVFoundation", "CoreMedia"]),
    framework("SwiftUI"),
    framework("Network"),
    framework("Security"),
    framework("WebRTC", ["AVFoundation"]),
    framework("Crypto"),

    .systemLibrary(name: "CSndFile", pkgConfig: "sndfile"),
    .systemLibrary(name: "CSpeexDSP", pkgConfig: "speexdsp"),
    .systemLibrary(name: "CMediaOpenSSL", pkgConfig: "openssl"),
    .systemLibrary(name: "CMediaSRTP", pkgConfig: "libsrtp2"),
    .systemLibrary(name: "CMediaOpus", pkgConfig: "opus"),
    .target(name: "CRealtimeMedia", dependencies: ["CMediaOpenSSL", "CMediaSRTP", "CMediaOpus"]),
    .target(name: "COnnxRuntime"),
    module("VoiceCore", []),
    module("VoiceAudio", ["VoiceCore", "CSndFile", "CSpeexDSP"]),
    module("VoicePlatform", ["VoiceCore", "VoiceAudio", "AVFoundation", "Network", "Security"]),
    module("SpeechUnderstanding", ["VoiceCore", .product(name: "Yams", package: "Yams")]),
    module("SpeechPipeline", ["VoiceCore", "VoiceAudio", "SpeechUnderstanding", "COnnxRuntime"]),
    module(
      "AppleSpeechRecognition",
      ["VoiceCore", "VoiceAudio", "VoicePlatform", "SpeechPipeline", "AVFoundation", "CoreMedia", "Speech"]),
    module(
      "SpeechRecognition",
      [
        "VoiceCore", "VoiceAudio", "VoicePlatform", "SpeechUnderstanding", "SpeechPipeline",
        "AppleSpeechRecognition", "AVFoundation",
      ]),
    module("CallSignaling", ["VoiceCore"]),
    module("RealtimeMedia", ["VoiceCore", "CRealtimeMedia", "Crypto"]),
    // Of these two only what media peers consist of: the rest needs NIO.
    module("CallMedia", ["VoiceCore", "VoiceAudio"], sources: ["Audio"]),
    module(
      "Calls", ["VoiceCore", "CallSignaling", "CallMedia", "RealtimeMedia"],
      sources: [
        "Media/MediaPeer.swift", "Values/CallQuality.swift", "Values/CallQualityMetrics+Statistics.swift",
        "Values/CallQualityMetrics+Streams.swift",
        "Values/CallsNames.swift", "Values/MOSCalculator+Logarithm.swift", "Values/TxCallInfo.swift",
        "Values/TxIceServer.swift",
      ]),
    module(
      "AppleCallMedia",
      [
        "VoiceCore", "VoicePlatform", "CallSignaling", "CallMedia", "Calls", "RealtimeMedia", "AVFoundation",
        "WebRTC",
      ]),
    module("VoiceViews", ["VoiceCore", "SwiftUI"]),
    module("VoiceTesting", ["Network"]),

    .testTarget(
      name: "AppleAdapterTests",
      dependencies: [
        "VoiceCore", "VoiceAudio", "VoicePlatform", "SpeechPipeline", "AppleSpeechRecognition",
        "SpeechRecognition", "CallSignaling", "CallMedia", "Calls", "RealtimeMedia", "AppleCallMedia",
        "VoiceViews", "AVFoundation", "CoreMedia", "Speech", "SwiftUI", "Network", "Security", "WebRTC",
      ],
      swiftSettings: swiftSettings),
  ]
)

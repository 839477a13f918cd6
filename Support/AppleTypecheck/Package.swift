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

/// A module of the main package: its folder under `Sources` is a link, or holds one beside what Linux lacks.
func module(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .target(
    name: name, dependencies: dependencies, exclude: linuxFiles(of: name), swiftSettings: swiftSettings)
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

    .systemLibrary(name: "CSndFile", pkgConfig: "sndfile"),
    .systemLibrary(name: "CSpeexDSP", pkgConfig: "speexdsp"),
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
    module("VoiceViews", ["VoiceCore", "SwiftUI"]),
    module("VoiceTesting", ["Network"]),

    .testTarget(
      name: "AppleAdapterTests",
      dependencies: [
        "VoiceCore", "VoiceAudio", "VoicePlatform", "SpeechPipeline", "AppleSpeechRecognition",
        "SpeechRecognition",
        "VoiceViews", "AVFoundation", "CoreMedia", "Speech", "SwiftUI", "Network", "Security",
      ],
      swiftSettings: swiftSettings),
  ]
)

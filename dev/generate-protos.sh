#!/usr/bin/env bash
# Generates Sources/SpeechProtocol from proto/. Needs protoc (Debian: protobuf-compiler).
set -euo pipefail
cd "$(dirname "$0")/.."
command -v protoc >/dev/null || { echo "protoc is missing: apt-get install protobuf-compiler" >&2; exit 1; }
swift build --product protoc-gen-swift
swift build --product protoc-gen-grpc-swift-2
bin=$(swift build --show-bin-path)
out=Sources/SpeechProtocol
rm -rf "$out" && mkdir -p "$out"
protoc --proto_path=proto \
  --plugin="$bin/protoc-gen-swift" \
  --plugin=protoc-gen-grpc-swift="$bin/protoc-gen-grpc-swift-2" \
  --swift_opt=Visibility=Public,UseAccessLevelOnImports=true,FileNaming=PathToUnderscores --swift_out="$out" \
  --grpc-swift_opt=Visibility=Public,UseAccessLevelOnImports=true,FileNaming=PathToUnderscores --grpc-swift_out="$out" \
  $(find proto -name '*.proto' | sort)
find proto "$out" -type f | LC_ALL=C sort | xargs sha256sum > dev/generated.sha256

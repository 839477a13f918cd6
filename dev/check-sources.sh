#!/usr/bin/env bash
# Checks rules of docs/architecture.md that the compiler does not check.
set -euo pipefail
cd "$(dirname "$0")/.."
failed=0

# forbid PATTERN REASON PATH...: reports every line of the Swift files under the paths that matches.
forbid() {
  local pattern=$1 reason=$2 found
  shift 2
  found=$(grep --recursive --line-number --extended-regexp --include='*.swift' -- "$pattern" "$@" 2>/dev/null \
    | grep --invert-match '^Sources/SpeechProtocol/' || true)
  if [[ -n $found ]]; then
    printf '%s\n  %s\n' "$reason" "${found//$'\n'/$'\n  '}" >&2
    failed=1
  fi
}

# must_not_import MODULE REGEX
must_not_import() {
  forbid "^ *([a-z@_]+ )*import +((class|enum|func|let|protocol|struct|typealias|var) +)?($2)\b" \
    "$1 must not import this:" "Sources/$1"
}

mapfile -t elsewhere < <(find Sources -name '*.swift' -not -path 'Sources/*/Platforms/*')
forbid '#(if|elseif) .*\b(os\(|canImport\((Darwin|Glibc|Musl|Android|AV[A-Za-z]+)\))' \
  "Platform conditions belong in a module's folder Platforms:" "${elsewhere[@]}"
forbid '^ *@_(exported|implementationOnly)' 'Use "import", "public import" or "package import":' Sources
forbid '(^|[^[:alnum:]_])(try!|as!|fatalError\(|preconditionFailure\()' 'Nothing that comes from outside may trap:' Sources

must_not_import VoiceCore 'NIO.*|GRPC.*|Foundation.*|Dispatch|Glibc'
must_not_import VoiceAudio 'NIO.*|GRPC.*|CALSA|AVF.*|AVFoundation'
must_not_import SpeechPipeline 'NIO.*|GRPC.*|SpeechProtocol'
must_not_import SpeechRecognition 'NIO.*|GRPC.*|SpeechProtocol|SpeechStreaming|VoiceServer|VoiceTesting'
must_not_import CallSignaling 'NIO.*|GRPC.*|Foundation.*|Dispatch|Glibc'
must_not_import RealtimeMedia 'NIO.*|GRPC.*|Foundation.*|Dispatch|Glibc|CallSignaling'
must_not_import CallMedia 'GRPC.*|CallSignaling|Calls|VoiceServer|VoiceTesting'
must_not_import Calls 'GRPC.*|VoiceServer|VoiceTesting|PocketSphinxRecognition'
must_not_import SpeechStreaming 'PocketSphinxRecognition|VoiceServer|VoiceTesting'
must_not_import VoiceViews 'NIO.*|GRPC.*|VoiceAudio|VoicePlatform|Speech.*'
must_not_import AppleSpeechRecognition 'NIO.*|GRPC.*|SpeechStreaming|SpeechRecognition|VoiceViews'
must_not_import AppleCallMedia 'NIO.*|GRPC.*|VoiceServer|VoiceTesting'
must_not_import VoiceServer 'SpeechStreaming|VoiceTesting'
must_not_import VoiceTesting 'Testing|XCTest'

mapfile -t long < <(
  find Sources Tests -name '*.swift' -not -path 'Sources/SpeechProtocol/*' -exec wc -l {} + \
    | awk '$2 != "total" && $1 > 500 { print $2 " has " $1 " lines; the limit is 500" }'
)
if [[ ${#long[@]} -gt 0 ]]; then
  printf '%s\n' "${long[@]}" >&2
  failed=1
fi

exit "$failed"

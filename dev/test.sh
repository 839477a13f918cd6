#!/usr/bin/env bash
# Runs the tests, in parts: those that only compute, or keep all cores busy for minutes, come after those that have
# deadlines of real time. If something fails, all of it is repeated at the end, where a long log is read first.
set -euo pipefail
cd "$(dirname "$0")/.."

heavy='RandomTests|GrammarScaleTests|StreamCutTests|DegradationTests|ContinuousDictationTests|RandomOutagesTests'
heavy+='|PocketSphinxRecognitionTests|SherpaOnnxRecognitionTests|SpeechUnderstandingTests|CallSignalingTests'
heavy+='|RealtimeMediaTests'
log=$(mktemp)
trap 'rm -f "$log"' EXIT

run() {
  swift test --disable-xctest "$@" 2>&1 | tee "$log" && return
  echo
  echo "What failed:"
  grep -E 'recorded an issue|error:|Fatal error|signal code' "$log" || true
  grep -E 'Test run with' "$log" || true
  return 1
}

# By themselves and one by one, because they count what a process leaves behind.
alone='LeakTests|LeakCheckTests'
# By themselves, because they measure how soon real outages are noticed.
timed='CallOutageTests|NetworkPathTests'

dev/check-apple.sh
run --skip "$heavy|$alone|$timed"
dev/check-examples.sh
run --skip-build --no-parallel --filter "$alone"
run --skip-build --no-parallel --filter "$timed"
run --skip-build --filter "$heavy"

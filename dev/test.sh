#!/usr/bin/env bash
# Runs the tests, in parts: those that only compute, or keep all cores busy for minutes, come after those that have
# deadlines of real time. If something fails, all of it is repeated at the end, where a long log is read first.
set -euo pipefail
cd "$(dirname "$0")/.."

heavy='RandomTests|GrammarScaleTests|StreamCutTests|DegradationTests|ContinuousDictationTests|RandomOutagesTests'
heavy+='|PocketSphinxRecognitionTests|SherpaOnnxRecognitionTests|SpeechUnderstandingTests|CallSignalingTests'
heavy+='|RealtimeMediaTests|CallSwitchReattachTests'
log=$(mktemp)
trap 'rm -f "$log"' EXIT

run() {
  swift test --disable-xctest "$@" 2>&1 | tee "$log" && return
  echo
  echo "What failed:"
  grep -E -A 2 'recorded an issue|: error: |Fatal error|signal code' "$log" || true
  grep -E 'Test run with' "$log" || true
  return 1
}

# By themselves and one by one, because they count what a process leaves behind.
alone='LeakTests|LeakCheckTests'
# By themselves, because they measure how soon real outages are noticed, have a browser at the other end, or carry audio at its
# own pace, which takes much of a core without optimisation, or count on a port that nobody else opens.
timed='CallOutageTests|NetworkPathTests|MediaInteropTests|CallMediaTests|CallCommandTests|AnswerCommandTests'
timed+='|PreflightCallTests|AssistantCallTests|DemoCommandTests|DemoCommandsTests|CallTLSTests|CallPeerTests|BadGatewayTests'
timed+='|CallEndToEndTests|CallReattachTests'

# All tests begin at once unless they are held back, and on few cores the deadlines of those that wait for sockets run out.
# The help is read whole: a pipe that `grep --quiet` closes early would fail, and hold nothing back, whenever the writer was slower.
width=()
help=$(swift test --help-hidden 2>&1 || true)
if [[ $help == *--experimental-maximum-parallelization-width* ]]; then
  width=(--experimental-maximum-parallelization-width 8)
fi

dev/check-apple.sh
run "${width[@]}" --skip "$heavy|$alone|$timed"
dev/check-examples.sh
run --skip-build --no-parallel --filter "$alone"
run --skip-build --no-parallel --filter "$timed"
run --skip-build "${width[@]}" --filter "$heavy"

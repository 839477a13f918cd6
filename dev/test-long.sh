#!/usr/bin/env bash
# Runs tests in their long form. First those with seeds: a million events of the gateway's switch, 10,000 whole calls over random
# networks, 10,000 runs of ICE, 100,000 courses of an utterance; optimised, in a build folder of its own. Then those with deadlines of
# real time, by themselves: 50 ways of calls that break, which needs root and iproute2, 500 outages of calls, and 200 cuts of a stream.
# Arguments go to `swift test`.
set -euo pipefail
cd "$(dirname "$0")/.."
export VOICE_LONG_TESTS=1

swift test --disable-xctest --configuration release -Xswiftc -enable-testing --scratch-path .build-long \
  --filter 'CallSwitchRandomTests|RandomCallsTests|ICERandomTests|SessionMachineRandomTests' "$@"
swift test --disable-xctest --no-parallel --filter 'TwoPathsTests|CallOutageTests|StreamCutTests' "$@"

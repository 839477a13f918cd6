#!/usr/bin/env bash
# Runs the unit tests under the thread sanitizer. Arguments go to `swift test`.
#
# One test at a time: with all of them at once each takes minutes, and deadlines of real time pass. Tests that only compute, on one
# thread, are left out.
#
# On Linux the sanitizer does not see into the libraries of Swift, so these reports are known to be false and left out:
# - Both accesses happen inside the body of a `withLock`: the contended path of `Mutex` lies in a library. Such a body is the only kind
#   of function with an `inout sending` parameter and a `sending` result, `zYuYT` in a mangled name, `zYuKYT` if it throws.
# - One access is that of a continuation being resumed (`$sScc6resume`): what the task does afterwards comes after it.
# - The variable is a `SystemRandomNumberGenerator`, which is empty and so has no memory of its own.
set -euo pipefail
cd "$(dirname "$0")/.."

reports=$(mktemp -d)
trap 'rm -rf "$reports"' EXIT
status=0
TSAN_OPTIONS="exitcode=0 log_path=$reports/report" \
  swift test --disable-xctest --no-parallel --sanitize thread --scratch-path .build-tsan \
  --skip 'IntegrationTests|Random(Calls)?Tests|PocketSphinxRecognitionTests' "$@" || status=$?

# A report is a warning up to its line SUMMARY; its first two paragraphs are the stacks of the two accesses.
find "$reports" -type f -exec cat {} + | awk '
  /^WARNING: ThreadSanitizer/ { report = ""; paragraph = 0; inside = 1; isFalse = 0; split("", locked) }
  inside { report = report $0 "\n" }
  inside && NF == 0 { paragraph++ }
  inside && /^ *#[0-9]+ .*zYuK?YT/ { locked[paragraph] = 1 }
  inside && /^ *#0 \$sScc6resume/ { isFalse = 1 }
  inside && /^ *Location is global .*27SystemRandomNumberGenerator/ { isFalse = 1 }
  /^SUMMARY: ThreadSanitizer/ && inside {
    inside = 0
    if (isFalse || locked[0] && locked[1]) known++; else { printf "%s\n", report; real++ }
  }
  END {
    printf "Thread sanitizer: %d races, %d false reports left out\n", real, known
    exit real > 0
  }' || status=1
exit "$status"

#!/usr/bin/env bash
# Runs the unit tests under the thread sanitizer. Arguments go to `swift test`.
#
# On Linux the contended path of Swift's `Mutex` lies in a library that the sanitizer does not see, so it reports accesses that
# the lock orders. A body of `withLock` is the only kind of function with an `inout sending` parameter and a `sending` result,
# `zYuYT` in a mangled name; a report is left out if both of its accesses happen inside such a body.
set -euo pipefail
cd "$(dirname "$0")/.."

reports=$(mktemp -d)
trap 'rm -rf "$reports"' EXIT
status=0
TSAN_OPTIONS="exitcode=0 log_path=$reports/report" \
  swift test --disable-xctest --sanitize thread --scratch-path .build-tsan --skip IntegrationTests "$@" || status=$?

# A report is a warning up to its line SUMMARY; its first two paragraphs are the stacks of the two accesses.
find "$reports" -type f -exec cat {} + | awk '
  /^WARNING: ThreadSanitizer/ { report = ""; paragraph = 0; inside = 1; split("", locked) }
  inside { report = report $0 "\n" }
  inside && NF == 0 { paragraph++ }
  inside && /^ *#[0-9]+ .*zYuYT/ { locked[paragraph] = 1 }
  /^SUMMARY: ThreadSanitizer/ && inside {
    inside = 0
    if (locked[0] && locked[1]) ordered++; else { printf "%s\n", report; real++ }
  }
  END {
    printf "Thread sanitizer: %d races, %d reports left out that Mutex orders\n", real, ordered
    exit real > 0
  }' || status=1
exit "$status"

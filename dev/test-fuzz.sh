#!/usr/bin/env bash
# Feeds random texts to what reads texts and frames from outside, and random courses of events to the machines of a call, for a
# minute (or FUZZ_SECONDS) each, under the address sanitizer. Arguments are names of programs to run instead of all of them.
# An input that breaks something is kept in FuzzTesting/.build/findings; FuzzTesting/README.md says how to run it again.
set -euo pipefail
cd "$(dirname "$0")/../FuzzTesting"

# Swift's own report of a crash reads memory in ways that the sanitizer takes for errors, and so hides the crash.
export SWIFT_BACKTRACE=enable=no

if [[ $(uname) != Linux ]]; then
  echo "The fuzzer needs the toolchain for Linux."
  exit 1
fi

chosen="$*"
for name in "$@"; do
  [[ -d Sources/fuzz-$name ]] || { echo "There is no program fuzz-$name." >&2; exit 1; }
done

# fuzz NAME DICTIONARY CORPUS [OPTION…]
fuzz() {
  [[ -z $chosen || " $chosen " == *" $1 "* ]] || return 0
  swift build --configuration release --product "fuzz-$1" \
    -Xswiftc -sanitize=fuzzer,address -Xswiftc -use-ld=lld
  mkdir -p ".build/corpus-$1" .build/findings
  "$(swift build --configuration release --show-bin-path)/fuzz-$1" \
    -max_total_time="${FUZZ_SECONDS:-60}" -max_len=4096 -timeout=10 -rss_limit_mb=4096 -print_final_stats=1 \
    -dict="$2" -artifact_prefix=.build/findings/ "${@:4}" ".build/corpus-$1" "$3"
}

fuzz understanding understanding.dict Corpus
fuzz signaling signaling.dict SignalingCorpus
fuzz media media.dict MediaCorpus
# A course takes some milliseconds, so it must not become too long, and not all the time may go into those of earlier runs; and nothing
# of it needs much memory.
mkdir -p .build/corpus-connection
find .build/corpus-connection -type f | shuf | tail -n +1001 | xargs --no-run-if-empty rm
fuzz connection connection.dict ConnectionCorpus -max_len=512 -len_control=0 -malloc_limit_mb=256

#!/usr/bin/env bash
# Feeds random texts to what reads texts and frames from outside, for a minute (or FUZZ_SECONDS) each, under the address sanitizer.
# An input that breaks something is kept in FuzzTesting/.build/findings.
set -euo pipefail
cd "$(dirname "$0")/../FuzzTesting"

if [[ $(uname) != Linux ]]; then
  echo "The fuzzer needs the toolchain for Linux."
  exit 1
fi

# fuzz NAME DICTIONARY CORPUS
fuzz() {
  swift build --configuration release --product "fuzz-$1" \
    -Xswiftc -sanitize=fuzzer,address -Xswiftc -use-ld=lld
  mkdir -p ".build/corpus-$1" .build/findings
  "$(swift build --configuration release --show-bin-path)/fuzz-$1" \
    -max_total_time="${FUZZ_SECONDS:-60}" -max_len=4096 -timeout=10 -rss_limit_mb=4096 -print_final_stats=1 \
    -dict="$2" -artifact_prefix=.build/findings/ ".build/corpus-$1" "$3"
}

fuzz understanding understanding.dict Corpus
fuzz signaling signaling.dict SignalingCorpus
fuzz media media.dict MediaCorpus

#!/usr/bin/env bash
# Builds and runs the benchmarks, a package of their own, against peers that are built here too. Arguments are passed on:
# --rounds N, --only a,b,c,d,e,f,g,h,i,j,k.
set -euo pipefail
cd "$(dirname "$0")/.."

dev/setup-bench.sh
build=Benchmarks/.build
echo "Building; the first build takes some minutes." >&2
make --directory Benchmarks/Peers --quiet OUT=../.build/peers >&2
swift build --package-path Benchmarks --scratch-path "$build" --configuration release --quiet >&2
programs=$(swift build --package-path Benchmarks --scratch-path "$build" --configuration release --show-bin-path)

# Thousands of connections need as many files.
ulimit -n 16384 2>/dev/null || ulimit -n "$(ulimit -Hn)"
# Servers are killed, so what they leave behind is removed here.
TMPDIR=$(mktemp --directory)
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
timeout --kill-after=10 1500 "$programs/voice-bench" run \
  --peers "$build/peers" --results Benchmarks/results --interface Evaluation/home/app.yaml "$@"

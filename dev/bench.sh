#!/usr/bin/env bash
# Runs the benchmarks, a package of their own.
set -euo pipefail
cd "$(dirname "$0")/.."

if [[ ! -f Benchmarks/Package.swift ]]; then
  echo "There are no benchmarks (Benchmarks/Package.swift)." >&2
  exit 1
fi
exec swift run --package-path Benchmarks --configuration release "$@"

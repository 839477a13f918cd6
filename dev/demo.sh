#!/usr/bin/env bash
# Builds the command line as users get it and runs its demonstration.
set -euo pipefail
cd "$(dirname "$0")/.."
source dev/packages.sh

# Without them the demonstration has fewer voices, or none, and says so; in a subshell, because it goes on all the same.
if command -v dpkg-query >/dev/null; then
  (install_packages flite festival festvox-kallpc16k festvox-kdlpc16k festvox-us-slt-hts) || true
fi

echo "Building; the first build takes some minutes, on two cores a quarter of an hour." >&2
# A terminal shows how far it is; a warning about files of a dependency is not for who sees the demonstration.
quiet=(--quiet)
if [[ -t 2 ]]; then quiet=(); fi
swift build --configuration release --product voice "${quiet[@]}" \
  >&2 2> >(grep --line-buffered --invert-match --extended-regexp "^warning: 'swift-distributed-tracing'|/CMakeLists\.txt$" >&2 || true)
exec "$(swift build --configuration release --show-bin-path)/voice" demo "$@"

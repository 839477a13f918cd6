#!/usr/bin/env bash
# Builds the command line as users get it and runs its demonstration.
set -euo pipefail
cd "$(dirname "$0")/.."
source dev/packages.sh

# Without them the demonstration has fewer voices, or none, and says so; in a subshell, because it goes on all the same.
if command -v dpkg-query >/dev/null; then
  (install_packages flite festival festvox-kallpc16k festvox-kdlpc16k festvox-us-slt-hts) || true
fi

echo "Building; the first build takes some minutes." >&2
swift build --configuration release --product voice --quiet
exec "$(swift build --configuration release --show-bin-path)/voice" demo "$@"

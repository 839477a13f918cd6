#!/usr/bin/env bash
# Builds the command line as users get it and runs its demonstration.
set -euo pipefail
cd "$(dirname "$0")/.."

echo "Building; the first build takes some minutes." >&2
swift build --configuration release --product voice --quiet
exec "$(swift build --configuration release --show-bin-path)/voice" demo "$@"

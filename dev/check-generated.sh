#!/usr/bin/env bash
# Checks that the generated sources are those that dev/generate-protos.sh wrote for the present definitions.
set -euo pipefail
cd "$(dirname "$0")/.."

# Both directions: no listed file changed, and no file is there that is not listed.
if ! sha256sum --check --quiet --strict dev/generated.sha256 \
  || ! diff <(cut -c 67- dev/generated.sha256) <(find proto Sources/SpeechProtocol -type f | LC_ALL=C sort) >&2; then
  echo "proto/ or Sources/SpeechProtocol changed by hand: edit proto/ only, then run make protos." >&2
  exit 1
fi

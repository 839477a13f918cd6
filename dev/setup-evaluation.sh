#!/usr/bin/env bash
# Installs the Debian packages of the evaluation: voices, and the bare engine that is its peer. Does nothing when all is there.
set -euo pipefail
source "$(dirname "$0")/packages.sh"

packages=(
  flite festival festvox-kallpc16k festvox-kdlpc16k festvox-us-slt-hts
  gcc libc6-dev libpocketsphinx-dev libsphinxbase-dev pocketsphinx-en-us pkg-config python3
)

require_debian "The voices of the evaluation" "${packages[@]}"
install_packages "${packages[@]}"

#!/usr/bin/env bash
# Installs the Debian packages of the benchmarks' peers, and the meter of speech quality into .peers. Does nothing when all is
# there.
set -euo pipefail
source "$(dirname "$0")/packages.sh"

packages=(
  g++ make pkg-config util-linux python3-dev
  libgrpc++-dev libprotobuf-dev protobuf-compiler protobuf-compiler-grpc
  libpocketsphinx-dev libsphinxbase-dev pocketsphinx pocketsphinx-en-us pocketsphinx-testdata
  flite
)

require_debian "The peers of the benchmarks" "${packages[@]}"
install_packages "${packages[@]}"

if ! .peers/bin/python -c 'import pesq' 2>/dev/null; then
  echo "Building the meter of speech quality (.peers)" >&2
  .peers/bin/python -m pip install --disable-pip-version-check --no-input --quiet \
    --requirement Benchmarks/Peers/requirements.txt </dev/null >&2
fi

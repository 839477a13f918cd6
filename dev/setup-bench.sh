#!/usr/bin/env bash
# Installs the Debian packages of the benchmarks' peers. Does nothing when all is there.
set -euo pipefail
source "$(dirname "$0")/packages.sh"

packages=(
  g++ make pkg-config util-linux
  libgrpc++-dev libprotobuf-dev protobuf-compiler protobuf-compiler-grpc
  libpocketsphinx-dev libsphinxbase-dev pocketsphinx pocketsphinx-en-us pocketsphinx-testdata
  flite
)

require_debian "The peers of the benchmarks" "${packages[@]}"
install_packages "${packages[@]}"

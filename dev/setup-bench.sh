#!/usr/bin/env bash
# Installs the Debian packages of the benchmarks' peers. Does nothing when all is there.
set -euo pipefail

packages=(
  g++ make pkg-config util-linux
  libgrpc++-dev libprotobuf-dev protobuf-compiler protobuf-compiler-grpc
  libpocketsphinx-dev libsphinxbase-dev pocketsphinx pocketsphinx-en-us pocketsphinx-testdata
)

say() { printf '%s\n' "$*" >&2; }

if ! command -v dpkg-query >/dev/null; then
  say "The peers of the benchmarks come from Debian's packages, and this is not a Debian system. They are:"
  say "  ${packages[*]}"
  exit 1
fi

missing=()
for package in "${packages[@]}"; do
  if [[ $(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null) != installed ]]; then
    missing+=("$package")
  fi
done
[[ ${#missing[@]} -gt 0 ]] || exit 0

if [[ $EUID -eq 0 ]]; then
  as_root=(env DEBIAN_FRONTEND=noninteractive)
elif sudo -n true 2>/dev/null; then
  as_root=(sudo -n env DEBIAN_FRONTEND=noninteractive)
else
  say "These packages are missing, and this user may not install them. Please run:"
  say "  sudo apt-get update && sudo apt-get install --yes ${missing[*]}"
  exit 1
fi
say "Installing: ${missing[*]}"
quiet=(--quiet=2 -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=300)
# A stale or partly broken package list does not matter if the packages can be installed all the same.
"${as_root[@]}" apt-get "${quiet[@]}" update </dev/null >&2 || say "apt-get update failed; trying with the lists that are there."
"${as_root[@]}" apt-get "${quiet[@]}" install --yes --no-install-recommends "${missing[@]}" </dev/null >&2

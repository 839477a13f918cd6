#!/usr/bin/env bash
# Installs the system packages that are missing and checks the Swift version. Does nothing when all is there.
set -euo pipefail
source "$(dirname "$0")/packages.sh"

packages=(
  pkg-config
  libpocketsphinx-dev libsphinxbase-dev pocketsphinx-en-us pocketsphinx-testdata
  flite flite1-dev
  libsndfile1-dev libspeexdsp-dev libasound2-dev
  libssl-dev libsrtp2-dev libopus-dev
  libsqlite3-dev zlib1g-dev
  python3-venv
  iproute2
)
libraries=(pocketsphinx sphinxbase sndfile speexdsp alsa openssl libsrtp2 opus sqlite3 zlib)
oldest_swift=6.2

check_libraries() {
  local library missing=()
  for library in "${libraries[@]}"; do
    pkg-config --exists "$library" 2>/dev/null || missing+=("$library")
  done
  [[ ${#missing[@]} -eq 0 ]] && return
  say "This is not a Debian system, so nothing can be installed by itself. Please install the development files of:"
  say "  ${missing[*]} (names as for pkg-config)"
  exit 1
}

check_swift() {
  local version
  if ! command -v swift >/dev/null; then
    say "Swift is missing. Install $oldest_swift or newer: https://www.swift.org/install"
    exit 1
  fi
  version=$(swift --version 2>/dev/null | sed -n 's/.*Swift version \([0-9][0-9.]*\).*/\1/p' | head -n 1)
  if [[ $(printf '%s\n' "$oldest_swift" "${version:-0}" | sort --version-sort | head -n 1) != "$oldest_swift" ]]; then
    say "Swift ${version:-of an unknown version} is too old. Install $oldest_swift or newer: https://www.swift.org/install"
    exit 1
  fi
}

check_swift
if command -v dpkg-query >/dev/null; then
  install_packages "${packages[@]}"
else
  check_libraries
fi

#!/usr/bin/env bash
# Installs the system packages that are missing and checks the Swift version. Does nothing when all is there.
set -euo pipefail

packages=(
  pkg-config
  libpocketsphinx-dev libsphinxbase-dev pocketsphinx-en-us pocketsphinx-testdata
  flite1-dev
  libsndfile1-dev libspeexdsp-dev libasound2-dev
  libsqlite3-dev zlib1g-dev
  python3-venv
)
libraries=(pocketsphinx sphinxbase sndfile speexdsp alsa sqlite3 zlib)
oldest_swift=6.2

say() { printf '%s\n' "$*" >&2; }

missing_packages() {
  local package
  for package in "${packages[@]}"; do
    if [[ $(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null) != installed ]]; then
      printf '%s\n' "$package"
    fi
  done
}

# Runs apt-get as root or not at all.
as_root() {
  if [[ $EUID -eq 0 ]]; then
    env DEBIAN_FRONTEND=noninteractive "$@" </dev/null
  else
    sudo -n env DEBIAN_FRONTEND=noninteractive "$@" </dev/null
  fi
}

install_packages() {
  local missing
  mapfile -t missing < <(missing_packages)
  [[ ${#missing[@]} -gt 0 ]] || return 0
  if [[ $EUID -ne 0 ]] && ! sudo -n true 2>/dev/null; then
    say "These packages are missing, and this user may not install them. Please run:"
    say "  sudo apt-get update && sudo apt-get install --yes ${missing[*]}"
    exit 1
  fi
  say "Installing: ${missing[*]}"
  local quiet=(--quiet=2 -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=300)
  # A stale or partly broken package list does not matter if the packages can be installed all the same.
  as_root apt-get "${quiet[@]}" update >&2 || say "apt-get update failed; trying with the lists that are there."
  as_root apt-get "${quiet[@]}" install --yes --no-install-recommends "${missing[@]}" >&2
  mapfile -t missing < <(missing_packages)
  if [[ ${#missing[@]} -gt 0 ]]; then
    say "Still missing after installation: ${missing[*]}"
    exit 1
  fi
}

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
  install_packages
else
  check_libraries
fi

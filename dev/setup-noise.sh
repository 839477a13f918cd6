#!/usr/bin/env bash
# Installs RNNoise, which takes noise out of commands, in .noise, and says how it is used. Nothing is needed without it.
#
# The library comes with its network in a Python package; only the library is kept. Its sum is checked.
set -euo pipefail
cd "$(dirname "$0")/.."
source dev/packages.sh

requirements=Support/rnnoise/requirements.txt
library=$PWD/.noise/librnnoise.so
stamp=.noise/requirements.installed

if ! cmp --silent "$requirements" "$stamp" || [[ ! -r $library ]]; then
  if [[ $(uname -sm) != "Linux x86_64" ]]; then
    say "There is a ready library for Linux on x86-64 only. Build RNNoise 0.2 and let VOICE_RNNOISE name its library."
    exit 1
  fi
  command -v dpkg-query >/dev/null && install_packages python3-venv
  say "Installing RNNoise (.noise)"
  rm -rf .noise
  work=$(mktemp --directory)
  trap 'rm -rf "$work"' EXIT
  python3 -m venv "$work" </dev/null
  "$work/bin/python" -m pip install --disable-pip-version-check --no-input --quiet --no-deps --only-binary :all: \
    --require-hashes --requirement "$requirements" </dev/null >&2
  mkdir .noise
  cp "$work"/lib/python3*/site-packages/pyrnnoise/librnnoise.so "$library"
  cp "$requirements" "$stamp"
fi
echo "export VOICE_RNNOISE=$library"

#!/usr/bin/env bash
# Makes .peers, the Python environment of the independent test peers. Done again only when the requirements changed.
set -euo pipefail
cd "$(dirname "$0")/.."

requirements=Tests/Peers/requirements.txt
stamp=.peers/requirements.installed

if cmp --silent "$requirements" "$stamp" && .peers/bin/python -c 'import grpc' 2>/dev/null; then
  exit 0
fi
echo "Making the Python environment of the test peers (.peers)" >&2
rm -rf .peers
python3 -m venv .peers </dev/null
.peers/bin/python -m pip install --disable-pip-version-check --no-input --quiet --requirement "$requirements" </dev/null >&2
cp "$requirements" "$stamp"

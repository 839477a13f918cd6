#!/usr/bin/env bash
# Installs the programs that the tests talk to, and makes .peers, the Python environment of the independent test peers.
# Each is done only when something is missing or the requirements changed.
set -euo pipefail
cd "$(dirname "$0")/.."
source dev/packages.sh

# A browser, a TURN server, and network namespaces; openssl makes the certificate of the TURN server.
packages=(chromium coturn iproute2 openssl)
requirements=Tests/Peers/requirements.txt
stamp=.peers/requirements.installed

install_programs() {
  if ! command -v dpkg-query >/dev/null; then
    say "This is not a Debian system. The tests of calls also need: ${packages[*]} (names as in Debian)"
    return
  fi
  local new_coturn
  new_coturn=$(missing_packages coturn)
  install_packages "${packages[@]}"
  # The tests start servers of their own; the service that comes with the package would offer its port to everybody.
  if [[ -n $new_coturn && -d /run/systemd/system ]]; then
    as_root systemctl disable --now --quiet coturn || say "The service coturn could not be stopped."
  fi
}

install_programs

if cmp --silent "$requirements" "$stamp" && .peers/bin/python -c 'import grpc, aiortc' 2>/dev/null; then
  exit 0
fi
echo "Making the Python environment of the test peers (.peers)" >&2
rm -rf .peers
python3 -m venv .peers </dev/null
.peers/bin/python -m pip install --disable-pip-version-check --no-input --quiet --requirement "$requirements" </dev/null >&2
cp "$requirements" "$stamp"

# Installs Debian packages; to be sourced. Nothing is done and nothing is said when all are there.

say() { printf '%s\n' "$*" >&2; }

missing_packages() {
  local package
  for package in "$@"; do
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
  mapfile -t missing < <(missing_packages "$@")
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
  mapfile -t missing < <(missing_packages "$@")
  if [[ ${#missing[@]} -gt 0 ]]; then
    say "Still missing after installation: ${missing[*]}"
    exit 1
  fi
}

# Says what is needed where nothing can be installed.
require_debian() {
  local purpose=$1
  shift
  command -v dpkg-query >/dev/null && return
  say "$purpose come from Debian's packages, and this is not a Debian system. They are:"
  say "  $*"
  exit 1
}

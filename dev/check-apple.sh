#!/usr/bin/env bash
# Compiles the files for Apple platforms against frameworks that are declared in Support/AppleTypecheck, and tests them
# through these declarations. This is no proof that they work on Apple platforms; docs/apple.md says what was never run.
set -euo pipefail
cd "$(dirname "$0")/.."

if [[ $(uname) != Linux ]]; then
  echo "Where Apple's frameworks are, 'swift build' checks these files."
  exit 0
fi

# Everything that is for Apple platforms must be in a module that Support/AppleTypecheck compiles, under a condition that is
# true there.
failed=0
while IFS= read -r file; do
  module=${file#Sources/}
  module=${module%%/*}
  compiled=
  for folder in Platforms Module/Platforms; do
    if [[ Support/AppleTypecheck/Sources/$module/$folder/${file##*/} -ef $file ]]; then compiled=yes; fi
  done
  if [[ -z $compiled ]] || ! grep --quiet "\"$module\"," Support/AppleTypecheck/Package.swift; then
    echo "$file is not compiled by Support/AppleTypecheck: link its module there." >&2
    failed=1
  fi
  if [[ $(head -n 1 "$file") != '#if canImport('* ]]; then
    echo "$file must begin with '#if canImport(', naming a framework that Support/AppleTypecheck declares." >&2
    failed=1
  fi
  if [[ $(head -n 1 "$file") =~ \&\&\ *(os|targetEnvironment)\( ]]; then
    echo "$file: its first condition is never true on Linux, so that it is not compiled." >&2
    failed=1
  fi
  framework=$(sed -nE '1s/^#if canImport\(([A-Za-z]+)\).*/\1/p' "$file")
  if [[ ! -d Support/AppleTypecheck/Sources/$framework ]]; then
    echo "$file: Support/AppleTypecheck declares no framework “$framework”." >&2
    failed=1
  fi
done < <(find Sources \( -name '*+Apple.swift' -o -path '*/Platforms/*.swift' -not -name '*+Linux.swift' \) | sort)
[[ $failed == 0 ]] || exit 1

# What the manifest leaves out depends on which files there are, so that an old evaluation must not be used.
swift test --manifest-cache none --package-path Support/AppleTypecheck --scratch-path .build-apple --disable-xctest "$@"

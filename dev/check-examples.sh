#!/usr/bin/env bash
# Type-checks the programs of Examples/ against the modules that the tests were built with: as fast as reading them, where a
# build of each with its dependencies would take minutes.
set -euo pipefail
cd "$(dirname "$0")/.."
modules=$(swift build --show-bin-path)/Modules
if [[ ! -d $modules ]]; then
  echo "The package is not built: run swift build --build-tests first." >&2
  exit 1
fi
flags=()
# The C modules behind our own, and Yams', wherever they are declared.
maps=(Sources/*/module.modulemap .build/checkouts/Yams/Sources/CYaml/include/module.modulemap)
for source in Sources/C*/; do maps+=("$(dirname "$modules")/$(basename "$source").build/module.modulemap"); done
for map in "${maps[@]}"; do
  [[ -f $map ]] && flags+=(-Xcc "-fmodule-map-file=$map")
done
for flag in $(pkg-config --cflags-only-I pocketsphinx sndfile speexdsp alsa); do flags+=(-Xcc "$flag"); done
for package in Examples/*/; do
  mapfile -t files < <(find "$package/Sources" -name '*.swift')
  echo "type-checking ${package%/}"
  swiftc -typecheck -warnings-as-errors -swift-version 6 -parse-as-library -enable-upcoming-feature ExistentialAny \
    -I "$modules" "${flags[@]}" "${files[@]}"
done

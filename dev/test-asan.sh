#!/usr/bin/env bash
# Runs the tests of RealtimeMedia, which calls the C libraries of media, under the address sanitizer, which also looks for memory that
# nobody frees. Arguments go to `swift test`.
#
# They are built in FuzzTesting, whose modules are links, so without most dependencies. Tests of thousands of random courses are left
# out: they take the same paths again and again, and call the libraries no other way.
set -euo pipefail
cd "$(dirname "$0")/../FuzzTesting"

# Swift's own report of a crash reads memory in ways that the sanitizer takes for errors, and so hides the crash.
export SWIFT_BACKTRACE=enable=no
# The programs beside the tests are built too, and never run: without the fuzzer they lack its main loop.
swift test --disable-xctest --no-parallel --sanitize address --scratch-path .build-asan \
  -Xlinker --defsym=LLVMFuzzerRunDriver=0 \
  --skip 'ICERandomTests|RandomCallsTests' "$@"

# Every target works without a terminal and never asks a question.
SHELL := /usr/bin/env bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help setup setup-peers setup-noise demo test test-peers test-long test-tsan test-asan test-fuzz bench evaluate check-apple format lint docs protos

# Generated code is formatted by its generator.
SWIFT_FILES = find Package.swift $(wildcard Sources Support Tests Examples Benchmarks FuzzTesting/Sources/FuzzSupport $(wildcard FuzzTesting/Sources/fuzz-*)) -name .build -prune -o -name '*.swift' -not -path 'Sources/SpeechProtocol/*' -print0

help: ## Prints the targets.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## Installs the Debian packages that are missing, and checks the Swift version.
	@dev/setup.sh

setup-peers: setup ## Installs the independent test peers: browser, TURN server, Python (.peers).
	@dev/setup-peers.sh

setup-noise: ## Installs RNNoise (.noise), which takes noise out of commands; prints the variable that names it.
	@dev/setup-noise.sh

demo: setup ## Builds the command line and shows what it does.
	@dev/demo.sh

test: setup-peers ## Runs all tests.
	@dev/test.sh

test-peers: setup-peers ## Lets the test peers of media call each other.
	@.peers/bin/python Tests/Peers/rtc_self_test.py

test-long: setup-peers ## Runs tests in their long form: those with seeds optimised in a build folder of their own, then those with deadlines.
	@dev/test-long.sh

test-tsan: setup ## Runs the unit tests under the thread sanitizer, in a build folder of its own.
	@dev/test-tsan.sh

test-asan: setup ## Runs the tests of RealtimeMedia under the address sanitizer, in a build folder of its own.
	@dev/test-asan.sh

test-fuzz: ## Feeds random texts, frames and courses of events for a minute each to what takes them from outside.
	@dev/test-fuzz.sh

bench: setup-peers ## Runs the benchmarks.
	@dev/bench.sh

evaluate: setup ## Measures how well spoken commands are understood, with synthetic voices.
	@dev/evaluate.sh

check-apple: setup ## Compiles the files for Apple platforms against stubs, and tests them through these.
	@dev/check-apple.sh

format: ## Formats all Swift files that are written by hand.
	@$(SWIFT_FILES) | xargs -0 swift format format --in-place --parallel

lint: ## Checks format, imports, platform conditions and that generated code is untouched.
	@$(SWIFT_FILES) | xargs -0 swift format lint --strict --parallel
	@dev/check-sources.sh
	@dev/check-generated.sh

docs: setup ## Writes docs/failures.md from the catalogue in the source.
	@VOICE_UPDATE_DOCS=1 swift test --disable-xctest --filter FailureCatalogueTests

protos: ## Generates Sources/SpeechProtocol from proto/.
	@dev/generate-protos.sh

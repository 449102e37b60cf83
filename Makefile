# The tasks of Apus. `make help` lists them.
SHELL := /bin/bash
SWIFT_FLAGS ?= --enable-all-traits -j 2
FORMATTED := Package.swift $(wildcard Sources Tests FuzzTesting Benchmarks Examples)

.PHONY: help run test test-long simulate release install format lint apple matrix bench benchfiles micro allocations autobahn tsan docs clean
.DEFAULT_GOAL := help

help: ## lists the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: ## builds and starts the chat server with two demo accounts; ARGS="--port 8080" adds options
	@scripts/bootstrap run
	@scripts/swift-build $(SWIFT_FLAGS) --product apus
	@exec .build/debug/apus serve --demo $(ARGS)

test: ## runs all checks: format, imports, build without warnings, macOS type-check, Swift, interop and browser tests
	@scripts/test

test-long: ## runs what takes too long for every change: all of Autobahn, ThreadSanitizer, a minute of every fuzzer, long transfers, a minute of kills and power cuts of the chat server, the release (two hours)
	@scripts/bootstrap test
	@scripts/release
	@for product in apus ApusConformance; do scripts/swift-build -c release $(SWIFT_FLAGS) --product $$product; done
	@APUS_BINARY=$(CURDIR)/.build/release/apus Conformance/autobahn/run all both
	@APUS_BINARY=$(CURDIR)/.build/release/apus .venv/bin/python Conformance/transfer_long
	@APUS_LONG=1 APUS_BINARY=$(CURDIR)/.build/release/apus .venv/bin/python -m pytest -p no:cacheprovider -q -s Conformance/test_chat_crash.py
	@scripts/tsan
	@for fuzzer in FuzzTesting/Fuzz*; do scripts/fuzz $$(basename $$fuzzer) 60 || exit 1; done

simulate: ## runs 100,000 seeds of the chat's simulator (an hour); `scripts/simulate` has its options
	@scripts/simulate --seeds 1-100000

release: ## builds a stripped apus with the Swift libraries inside, in .build/dist, and checks that it serves the page by itself
	@scripts/release

PREFIX ?= /usr/local
install: ## installs that file as PREFIX/bin/apus; PREFIX is /usr/local by default
	@[ -f .build/dist/apus ] || scripts/release
	@mkdir -p $(DESTDIR)$(PREFIX)/bin
	@install -m 755 .build/dist/apus $(DESTDIR)$(PREFIX)/bin/apus
	@echo "$(DESTDIR)$(PREFIX)/bin/apus"

format: ## rewrites the Swift files in the project's format
	@swift format -i -r -p $(FORMATTED)

lint: ## checks format, language, imports, availability and generated files, without building
	@swift format lint --strict -r -p $(FORMATTED)
	@python3 scripts/check-language
	@python3 scripts/check-imports
	@python3 scripts/check-availability
	@python3 scripts/check-snippets
	@python3 scripts/check-features
	@python3 scripts/embed-page --check

apple: ## type-checks Sources for macOS on Linux, at the oldest supported version
	@scripts/swift-build --build-tests $(SWIFT_FLAGS)
	@scripts/check-apple

matrix: ## prints the interop results of every server, client and transport as a table
	@scripts/bootstrap test
	@scripts/swift-build $(SWIFT_FLAGS)
	@Conformance/matrix

bench: ## compares the servers (release build) with node ws, python websockets and python-socketio, and draws the plots (twenty minutes)
	@Benchmarks/run --all

benchfiles: ## compares file transfers over the loopback (release build) with iperf3, rsync and scp
	@for product in apus ApusConformance; do scripts/swift-build -c release $(SWIFT_FLAGS) --product $$product; done
	@Benchmarks/transfer

micro: ## prints the instructions and allocations of every codec and state machine
	@Benchmarks/Micro/run

allocations: ## fails if a message costs more allocations than recorded; part of `make test`
	@scripts/check-allocations

autobahn: ## runs all 517 cases of the Autobahn test suite in both roles (15 minutes)
	@scripts/bootstrap test
	@for product in apus ApusConformance; do scripts/swift-build -c release $(SWIFT_FLAGS) --product $$product; done
	@APUS_BINARY=$(CURDIR)/.build/release/apus Conformance/autobahn/run all both

tsan: ## runs the tests of the WebSocket, framed, Engine.IO and Socket.IO layers under ThreadSanitizer
	@scripts/tsan

docs: ## builds the DocC pages of every library product in docs-output/
	@scripts/docs

clean: ## removes the build products and docs-output/
	@rm -rf .build docs-output

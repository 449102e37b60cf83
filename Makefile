# Apus. `make help` lists what there is.
SHELL := /bin/bash
SWIFT_FLAGS ?= -j 2
FORMATTED := Package.swift $(wildcard Sources Tests FuzzTesting Benchmarks Examples)

.PHONY: help run test format lint matrix bench benchfiles micro allocations autobahn tsan docs clean
.DEFAULT_GOAL := help

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: ## builds and starts the chat server with two demo accounts; ARGS="--port 8080" adds options
	@scripts/bootstrap run
	@swift build $(SWIFT_FLAGS) --product apus
	@exec .build/debug/apus serve --demo $(ARGS)

test: ## everything: format, imports, build without warnings, Swift, interop and browser tests
	@scripts/test

format: ## rewrites the Swift files in the project's format
	@swift format -i -r -p $(FORMATTED)

lint: ## format, import and generated-file checks, without building
	@swift format lint --strict -r -p $(FORMATTED)
	@python3 scripts/check-imports
	@python3 scripts/check-snippets
	@python3 scripts/embed-page --check

matrix: ## every server × client × transport × row, as a table
	@scripts/bootstrap test
	@swift build $(SWIFT_FLAGS) --product apus
	@Conformance/matrix

bench: ## our servers (release build) beside node ws, python websockets and python-socketio, how cost grows, the plots (twenty minutes)
	@Benchmarks/run --all

benchfiles: ## files over the loopback (release build) beside iperf3, an rsync daemon and scp, in one run
	@swift build -c release $(SWIFT_FLAGS) --product apus
	@Benchmarks/transfer

micro: ## instructions and allocations of every codec and machine
	@Benchmarks/Micro/run

allocations: ## fails when a message costs more allocations than is written down; part of `make test`
	@scripts/check-allocations

autobahn: ## all 517 cases of the Autobahn test suite in both roles (a quarter of an hour)
	@scripts/bootstrap test
	@swift build -c release $(SWIFT_FLAGS) --product apus
	@APUS_BINARY=$(CURDIR)/.build/release/apus Conformance/autobahn/run all both

tsan: ## the tests of the WebSocket, Engine.IO and Socket.IO layers under ThreadSanitizer
	@scripts/tsan

docs: ## DocC pages of every library product, into docs-output/
	@scripts/docs

clean: ## removes what was built
	@rm -rf .build docs-output

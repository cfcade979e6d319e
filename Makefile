# voicegw: `make` lists the targets. docs/development.md says more about each.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

GO       ?= go
ARGS     ?=
BENCH    ?= .
CALLS    ?= 1000
CONFIG   ?=
COUNT    ?= 1
EVERY    ?= 1
FUZZTIME ?= 10s
KILLS    ?= 20
LEDGER   ?=
MUTANTS  ?=
PKG      ?= ./...
SEED     ?=

# Nothing we ship needs cgo. The race detector does: its targets turn cgo on for themselves.
export CGO_ENABLED ?= 0
export GO FUZZTIME

# With a C compiler and libopus at hand the gateway speaks Opus to callers over WebRTC; without, G.722. OPUS= does without.
OPUS ?= $(shell command -v $(CC) pkg-config >/dev/null && pkg-config --exists opus && echo libopus)

.PHONY: help run build build-opus test clients deps fmt vet race fuzz sim soak chaos mutation bench bench-calls bench-durable cover clean

help: ## list the targets
	@echo 'voicegw: make TARGET [VARIABLE=value]'
	@awk -F ':.*## ' '/^[a-z][a-z0-9-]*:.*## / { printf "  %-13s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

run: ## start the gateway and print the page's address (ARGS='--listen ...')
	$(if $(OPUS),CGO_ENABLED=1) $(GO) run $(if $(OPUS),-tags libopus) ./cmd/voicegw serve $(ARGS)

build: ## compile bin/voicegw, without cgo
	CGO_ENABLED=0 $(GO) build -o bin/voicegw ./cmd/voicegw

build-opus: ## compile bin/voicegw with libopus: cgo, and Opus to callers over WebRTC
	CGO_ENABLED=1 $(GO) build -tags libopus -o bin/voicegw ./cmd/voicegw

test: ## every test once, with vet, staticcheck and tidy; installs what is missing (make deps)
	@scripts/test.sh

clients: ## the tests with other people's clients, their older versions too (make test tries the newest)
	VOICEGW_CLIENTS=all $(GO) test -timeout 15m ./transport/gemini ./transport/openai ./transport/rtvi

deps: ## install what the tests need and is missing (Debian packages, Go modules)
	@scripts/deps.sh

fmt: ## rewrite the Go files as gofmt writes them
	$(GO) fmt ./...

vet: ## go vet and staticcheck (PKG=./audio/...)
	$(GO) vet $(PKG)
	$(GO) tool -modfile internal/tools/go.mod staticcheck $(PKG)

race: ## the tests of everything with goroutines under the race detector (PKG=./live/...)
	@scripts/test.sh race $(PKG)

fuzz: ## each fuzz target for FUZZTIME=10s (PKG=./live/...)
	@scripts/fuzz.sh $(PKG)

sim: ## whole calls at random, held to the proofs (SEED=17 CALLS=1000 LEDGER=sim.jsonl; no SEED: a fresh one)
	VOICEGW_SIM_SEED='$(SEED)' VOICEGW_SIM_CALLS='$(CALLS)' VOICEGW_SIM_LEDGER='$(abspath $(LEDGER))' \
		VOICEGW_SIM_COMMIT="$$(git describe --always --dirty --abbrev=12 --exclude '*')" GOGC=400 \
		$(GO) test -count 1 -timeout 0 -v -run '^TestSimulate$$' ./internal/simulate \
		| grep --line-buffered -vE '^ *(=== |--- PASS)'

soak: ## thousands of calls with faults, on sockets: what is left of them, a minute (CALLS=3000)
	VOICEGW_SOAK_CALLS='$(if $(filter command line environment,$(origin CALLS)),$(CALLS),3000)' \
		$(GO) test -count 1 -timeout 0 -v -run '^TestSoak$$' . | grep --line-buffered -vE '^ *=== '

chaos: ## journals and sessions whose processes are killed again and again, minutes (KILLS=20; ten times that of sessions)
	VOICEGW_CHAOS='$(KILLS)' $(GO) test -count 1 -timeout 0 -v -run 'Crash' ./journal/... | grep -vE '^ *=== '
	VOICEGW_KILLS=$$(( 10 * $(KILLS) )) $(GO) test -count 1 -timeout 0 -v -run '^TestKill$$' ./agent/managed | grep -vE '^ *=== '
	VOICEGW_KILLS='$(KILLS)' $(GO) test -count 1 -timeout 0 -v -run '^TestKill' ./agent/managed/api | grep -vE '^ *=== '

mutation: ## how much the proofs notice: every mutant of the session, minutes (MUTANTS=link/ CONFIG=consent EVERY=4)
	$(GO) test ./voicenets/mutants -run '^TestMutants$(if $(CONFIG),Refused)$$' -count 1 -timeout 0 -v -mutation \
		-mutants '$(MUTANTS)' -config '$(CONFIG)' -every '$(EVERY)' \
		| grep --line-buffered -vE '^ *(=== |--- PASS)'

bench: ## benchmarks with allocations (PKG=./audio BENCH=Resample COUNT=5)
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem -count $(COUNT) -timeout 30m $(PKG)

bench-calls: build ## what calls cost beside a raw relay (CALLS=40 ARGS='--seconds 60 --transport ws')
	bin/voicegw bench --calls '$(if $(filter command line environment,$(origin CALLS)),$(CALLS),20)' $(ARGS)

bench-durable: ## an agent's turns beside Temporal's, half an hour; needs strace and PostgreSQL (ARGS='-rounds 1')
	$(GO) run -C internal/durablebench . $(ARGS)

cover: ## statement coverage: a line per package, the total, and bin/cover.html (PKG=./audio)
	@mkdir -p bin
	$(GO) test -coverprofile bin/cover.out -covermode atomic -timeout 15m $(PKG)
	@$(GO) tool cover -func bin/cover.out | tail -n 1
	@$(GO) tool cover -html bin/cover.out -o bin/cover.html
	@echo 'line by line: bin/cover.html'

clean: ## remove what make made
	rm -rf bin

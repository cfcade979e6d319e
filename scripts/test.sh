#!/usr/bin/env bash
# `make test`: every step runs, also after one failed, and the last lines say which did. Exit code 1 when any failed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

go="${GO:-go}"
export CGO_ENABLED="${CGO_ENABLED:-0}"
GOFLAGS="$("$go" env GOFLAGS) -buildvcs=false" # a clone owned by somebody else has no readable version
export GOFLAGS

# Packages without a goroutine of their own (internal/tidy tests that) run without the race detector, faster.
pure='/(agent/managed/life|audio|audio/.*|petri|petri/dot|petri/patterns|petri/petritest|voicenets|voicenets/(claims|mutants|internal/.*)|verify|verify/.*|internal/tidy)$'

# Packages with browsers, or processes of our own in real time: each has the processors to itself, four tests at a time.
# The others wait more than they work, two at a time.
alone='/(cmd/voicegw|console|transport/rtc|web/webtest)$'

# Pure packages that start z3 and cvc5, which must answer within seconds: they get a processor of their own.
solvers='/verify/smt$'

# Packages whose tests take longest, which start first: at the end no processor waits for another.
long='/(voicegw|agent/managed|live/sim|transport/(gemini|openai|rtvi)|voicenets|voicenets/(claims|mutants))$'

# The tests are linked without debugging tables, and vet has its own step. Go's tools and tests collect garbage less
# often than the programs that tests start, which get an environment of their own.
lean=(-vet=off -ldflags=-w)
export GOGC="${GOGC:-400}"

# A program with the race detector sleeps at its exit, for goroutines that still run: a second, in over a hundred programs.
# Ours leave none behind (their tests look), so a twentieth of it is enough.
export GORACE="${GORACE:-atexit_sleep_ms=50}"

results=()
failed=0

# step NAME COMMAND...: runs the command, keeps its outcome and how long it took.
step() {
    local name="$1" start=$SECONDS outcome=ok
    shift
    printf '\n== %s\n' "$name"
    "$@" || { outcome=FAILED failed=1; }
    results+=("$(printf '%-7s %4d s  %s' "$outcome" $((SECONDS - start)) "$name")")
}

# background COMMAND runs a function of steps beside what follows. collect waits for it, shows what it printed, and takes
# over its results, with a NOTE on each.
background() {
    back_log="$(mktemp)" back_results="$(mktemp)"
    (
        results=() failed=0
        "$@"
        printf '%s\n' "${results[@]}" >"$back_results"
        exit "$failed"
    ) >"$back_log" 2>&1 &
    back_pid=$!
    trap 'kill "$back_pid" 2>/dev/null || true' EXIT
}

collect() {
    local line
    wait "$back_pid" || failed=1
    cat "$back_log"
    while read -r line; do results+=("$line, $1"); done <"$back_results"
    rm -f "$back_log" "$back_results"
}

# idle COMMAND runs a function of steps on processor time that nothing else wants: most tests of calls wait more than they
# work.
idle() {
    renice -n 19 -p "$BASHPID" >/dev/null || true
    if command -v chrt >/dev/null; then chrt --idle --pid 0 "$BASHPID" || true; fi
    "$@"
}

skip() { results+=("$(printf '%-7s %4s    %s' skipped '' "$1")"); }

# long_first sorts a list of packages.
long_first() {
    local packages
    packages="$(cat)"
    { grep -E "$long" || true; } <<<"$packages"
    { grep -vE "$long" || true; } <<<"$packages"
}

# tests MODE PATTERN ARGS...: go test ARGS on the packages whose path matches (MODE -E) or not (MODE -vE).
tests() {
    local mode="$1" pattern="$2" packages
    shift 2
    packages="$("$go" list ./...)" || return 1
    packages="$(grep "$mode" "$pattern" <<<"$packages" | long_first)"
    [[ -n "$packages" ]] || { echo 'no such package' && return; }
    # shellcheck disable=SC2086 # one argument per package
    "$go" test "${lean[@]}" -timeout 20m "$@" $packages
}

# pure_tests runs the pure packages but those whose solvers have seconds of their own to answer.
pure_tests() {
    local packages
    packages="$("$go" list ./... | grep -E "$pure" | grep -vE "$solvers" | long_first)" || return 1
    # shellcheck disable=SC2086 # one argument per package
    "$go" test "${lean[@]}" -timeout 40m $packages
}

# race MODE PATTERN ARGS... is tests with the race detector. What has no goroutine and would take fifteen times as long is
# compiled as for use: the proofs, the drawings, and the arithmetic on samples. The standard library's own use of unsafe
# is not checked, which is a tenth of the time; that of all other packages is.
race() {
    local module=github.com/voicegw/voicegw
    CGO_ENABLED=1 tests "$@" -race -gcflags=std=-d=checkptr=0 "-gcflags=$module/verify/...=-race=false" \
        "-gcflags=$module/petri/dot=-race=false" "-gcflags=$module/audio/...=-race=false"
}

with_race() { race -vE "$pure|$alone" -p 2; }

with_race_alone() { race -E "$alone" -p 1 -parallel 4; }

without_race() { "$go" build ./... && tests -vE "$pure" -p 1; }

# allocating lists the packages beside the pure ones that have tests of allocations.
allocating() {
    local path dir
    "$go" list -f '{{.ImportPath}} {{.Dir}}' ./... | while read -r path dir; do
        if [[ ! "$path" =~ $pure ]] && grep -qsE '^func (Test|Example|Fuzz)[A-Za-z0-9_]*Alloc' "$dir"/*_test.go; then
            echo "$path"
        fi
    done
}

# behind CONSTRAINT FILES... is a pattern of the tests in those files that have this build constraint.
behind() {
    local constraint="$1" files
    shift
    files="$(grep -lxF "//go:build $constraint" "$@")" || return 1
    # shellcheck disable=SC2086 # one argument per file
    sed -nE 's/^func (Test[A-Za-z0-9_]+)\(.*/\1/p' $files | paste -sd '|' | sed 's/.*/^(&)$/'
}

# stories runs what is built without the race detector alone: long stories of whole calls, every value of every setting,
# proofs of agents. A name of a test that is built so must be one of its kind in all these packages.
# It also runs again, as built for use, the tests of allocations, which the race detector's own allocations may disturb.
# Together they link each package's tests once.
stories() {
    local stories=(. ./internal/simulate ./cmd/voicegw ./agent ./agent/managed ./agent/workflow ./live/sim) pattern packages
    # shellcheck disable=SC2068 # the patterns of their test files are to be expanded
    pattern="$(behind '!race' ${stories[@]/%//*_test.go})" || return 1
    packages="$(allocating)" && [[ -n "$packages" ]] || { echo 'no tests of allocations' && return 1; }
    # shellcheck disable=SC2086 # one argument per package
    "$go" test "${lean[@]}" -timeout 20m -run "$pattern|Alloc" "${stories[@]}" $packages
}

# foils shows what ADK's own live flow does. It has data races, so its tests are built without the race detector alone; so
# are the proofs of this package.
foils() { tests -E '/agent/adkagent$' -run "$(behind '!race' agent/adkagent/*_test.go)"; }

# proofs_by_solvers is one process at a time, nearly always: the other processor is free.
proofs_by_solvers() { step 'proofs by z3 and cvc5' tests -E "$solvers"; }

has_c_compiler() { command -v "$("$go" env CC)" >/dev/null; }

has_z3_headers() { [[ -e /usr/include/z3.h ]]; }

# inductions tests what is behind the build tag z3: proofs with the library of z3, which is C.
inductions() { CGO_ENABLED=1 "$go" test "${lean[@]}" -timeout 10m -tags z3 -run "$(behind z3 verify/smt/*_test.go)" ./verify/smt; }

has_libopus() { command -v pkg-config >/dev/null && pkg-config --exists opus; }

# opus tests what is behind the build tag libopus: Opus to callers over WebRTC, with a C library.
opus() { CGO_ENABLED=1 "$go" test "${lean[@]}" -timeout 10m -tags libopus -run 'Alloc|Encode|Opus|Talk|Chromium$' \
    ./audio/opus ./bench ./transport/rtc; }

# beside lists what needs no time of its own: it computes, and waits for nobody.
beside() {
    step 'vet' "$go" vet ./...
    step 'staticcheck' "$go" tool -modfile internal/tools/go.mod staticcheck ./...
    step 'tests of the pure packages, and tidy' pure_tests
    step 'deploy: Dockerfile, manifests, Helm chart' "$go" test -C internal/deploycheck -vet=off .
    if has_c_compiler; then
        step 'stories of whole calls, proofs of agents, allocation tests, without the race detector' stories
    fi
}

main() {
    step 'deps' scripts/deps.sh
    background idle beside
    if has_c_compiler; then
        step 'tests with browsers and processes, with the race detector' with_race_alone
        step 'tests of the rest, with the race detector' with_race
        collect 'on idle time'
    else
        echo
        echo "NOTE: no C compiler ($("$go" env CC)): the race detector cannot run. \`make deps\` installs gcc."
        collect 'on idle time'
        step 'tests of the rest, without the race detector' without_race
        skip 'race detector (no C compiler: make deps)'
    fi
    background proofs_by_solvers
    if has_c_compiler; then
        step "ADK's own live flow, and proofs, without the race detector" foils
    fi
    if has_c_compiler && has_z3_headers; then
        step 'proofs with the library of z3 (build tag z3)' inductions
    else
        skip 'proofs with the library of z3 (no C compiler or no z3.h: make deps)'
    fi
    if has_c_compiler && has_libopus; then
        step 'Opus by libopus (build tag libopus)' opus
    else
        skip 'Opus by libopus (no C compiler or no libopus: make deps)'
    fi
    collect 'beside the last steps'
    printf '\n== summary\n'
    printf '%s\n' "${results[@]}"
    printf '%-7s %4d s  %s\n' "$([[ $failed == 0 ]] && echo PASSED || echo FAILED)" "$SECONDS" 'make test'
    return "$failed"
}

main "$@"

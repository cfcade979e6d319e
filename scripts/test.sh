#!/usr/bin/env bash
# `make test`: every test once, as the code is built for use, and what else must be clean.
# `make race` is `scripts/test.sh race [PACKAGES]`: the tests of what has goroutines, with the race detector.
# Every step runs, also after one failed, and the last lines say which did. Exit code 1 when any failed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export CGO_ENABLED="${CGO_ENABLED:-0}"

go="${GO:-go}"
# A clone owned by somebody else has no readable version. Without the folder's path in them, what was compiled and vetted in
# one clone serves the next; that does not go for tests, which run anew (-count=1).
GOFLAGS="$("$go" env GOFLAGS) -buildvcs=false -trimpath"
export GOFLAGS

# Packages without a goroutine of their own (internal/tidy tests that): they compute, and wait for nobody.
pure='/(agent/managed/life|audio|audio/.*|petri|petri/dot|petri/patterns|petri/petritest|voicenets|voicenets/(claims|mutants|internal/.*)|verify|verify/.*|internal/tidy)$'

# Packages with browsers, or processes of our own in real time: each has the processors to itself, four tests at a time.
alone='/(cmd/voicegw|console|transport/rtc|web/webtest)$'

# Packages with goroutines whose tests hold no call in real time: other work may run beside them. What is in none of these
# lists holds calls, and waits more than it works.
agents='/(agent|agent/(fetch|managed|managed/.*|provider|provider/.*|workflow|workflow/.*)|journal|journal/.*|petri/.*|settings|internal/simulate)$'

# Packages whose tests take longest, which start first: at the end no processor waits for another.
long='/(voicegw|agent/managed|live/sim|transport/(gemini|openai|rtvi)|voicenets|voicenets/(claims|mutants))$'

# The tests run even if they passed before, are linked without debugging tables, and vet has its own step. Go's tools and
# tests collect garbage less often than the programs that tests start, which get an environment of their own.
lean=(-count=1 -vet=off -ldflags=-w)
export GOGC="${GOGC:-400}"

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

skip() { results+=("$(printf '%-7s %4s    %s' skipped '' "$1")"); }

# summary COMMAND lists the steps and their times. It fails if one did.
summary() {
    printf '\n== summary\n'
    printf '%s\n' "${results[@]}"
    printf '%-7s %4d s  %s\n' "$([[ $failed == 0 ]] && echo PASSED || echo FAILED)" "$SECONDS" "$1"
    return "$failed"
}

has_c_compiler() { command -v "$("$go" env CC)" >/dev/null; }

# packages MODE PATTERN NAMES... lists those of the packages whose path matches (MODE -E) or not (MODE -vE), the long ones
# first.
packages() {
    local mode="$1" pattern="$2" all
    shift 2
    all="$("$go" list "$@")" || return 1
    all="$(grep "$mode" "$pattern" <<<"$all" || true)"
    { grep -E "$long" || true; } <<<"$all"
    { grep -vE "$long" || true; } <<<"$all"
}

# tests LIST ARGS...: go test ARGS on packages, one a line.
tests() {
    local list="$1"
    shift
    [[ -n "$list" ]] || { echo 'none of these packages' && return; }
    # shellcheck disable=SC2086 # one argument per package
    "$go" test "${lean[@]}" -timeout 20m "$@" $list
}

# Pure packages that start z3 and cvc5, which must answer within seconds: no idle time for them.
solvers='/verify/smt$'

# background COMMAND... runs a function of steps beside what follows. collect NOTE waits for it, shows what it printed, and
# takes over its results, with the note on each.
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

tests_alone() {
    local list
    list="$(packages -E "$alone" ./...)" && tests "$list" -p 1 -parallel 4
}

tests_of_calls() {
    local list
    list="$(packages -vE "$pure|$alone|$agents" ./...)" && tests "$list" -p 3 -parallel 4
}

tests_of_agents() {
    local list
    list="$(packages -E "$agents" ./... | grep -vE "$pure")" && tests "$list" -p 2
}

tests_of_the_pure() {
    local list
    list="$(packages -E "$pure" ./...)" && tests "$(grep -vE "$solvers" <<<"$list")" -timeout 40m
}

proofs_by_solvers() {
    local list
    list="$(packages -E "$solvers" ./...)" && tests "$list"
}

has_z3_headers() { [[ -e /usr/include/z3.h ]]; }

# inductions tests what is behind the build tag z3: proofs with the library of z3, which is C.
inductions() {
    local files names
    files="$(grep -lxF '//go:build z3' verify/smt/*_test.go)" || return 1
    # shellcheck disable=SC2086 # one argument per file
    names="$(sed -nE 's/^func (Test[A-Za-z0-9_]+)\(.*/\1/p' $files | paste -sd '|')"
    CGO_ENABLED=1 "$go" test "${lean[@]}" -timeout 10m -tags z3 -run "^($names)\$" ./verify/smt
}

has_libopus() { command -v pkg-config >/dev/null && pkg-config --exists opus; }

# opus tests what is behind the build tag libopus: Opus to callers over WebRTC, with a C library. A browser listens in
# real time, so a package has the processors to itself.
opus() { CGO_ENABLED=1 "$go" test "${lean[@]}" -timeout 10m -p 1 -tags libopus -run 'Alloc|Encode|Opus|Talk|Chromium$' \
    ./audio/opus ./bench ./transport/rtc; }

# computing lists what needs no time of its own.
computing() {
    step 'staticcheck' "$go" tool -modfile internal/tools/go.mod staticcheck ./...
    step 'deploy: Dockerfile, manifests, Helm chart' "$go" test -C internal/deploycheck -count=1 -vet=off .
    step 'tests of the pure packages, and tidy' tests_of_the_pure
}

# proving lists what starts solvers. They take all of a processor, and must answer within seconds.
proving() {
    if has_c_compiler && has_z3_headers; then
        step 'proofs with the library of z3 (build tag z3)' inductions
    else
        skip 'proofs with the library of z3 (no C compiler or no z3.h: make deps)'
    fi
    step 'proofs by z3 and cvc5' proofs_by_solvers
}

whole() {
    step 'deps' scripts/deps.sh
    step 'vet' "$go" vet ./... # first, and alone: it compiles what the steps after it share
    background idle computing
    step 'tests with browsers and processes' tests_alone
    if has_c_compiler && has_libopus; then
        step 'Opus by libopus (build tag libopus)' opus
    else
        skip 'Opus by libopus (no C compiler or no libopus: make deps)'
    fi
    step 'tests of calls' tests_of_calls
    collect 'on idle time'
    background proving
    step 'tests of agents, journals and the rest' tests_of_agents
    collect 'beside those of agents'
    summary 'make test'
}

# race LIST ARGS... is tests with the race detector. What has no goroutine and would take fifteen times as long is
# compiled as for use: the proofs, the drawings, and the arithmetic on samples. The standard library's own use of unsafe
# is not checked, which is a tenth of the time; that of all other packages is.
race() {
    local module=github.com/voicegw/voicegw
    tests "$@" -race -gcflags=std=-d=checkptr=0 "-gcflags=$module/verify/...=-race=false" \
        "-gcflags=$module/petri/dot=-race=false" "-gcflags=$module/audio/...=-race=false"
}

race_alone() {
    local list
    list="$(packages -E "$alone" "$@")" && race "$list" -p 1 -parallel 4
}

race_rest() {
    local list
    list="$(packages -vE "$pure|$alone" "$@")" && race "$list" -p 2
}

with_race() {
    if ! has_c_compiler; then
        echo "the race detector needs a C compiler, and there is no $("$go" env CC): make deps installs gcc" >&2
        return 1
    fi
    export CGO_ENABLED=1
    # A program with the race detector sleeps at its exit, for goroutines that still run: a second, in over a hundred
    # programs. Ours leave none behind (their tests look), so a twentieth of it is enough.
    export GORACE="${GORACE:-atexit_sleep_ms=50}"
    [[ $# -gt 0 ]] || set -- ./...
    step 'tests with browsers and processes, with the race detector' race_alone "$@"
    step 'tests of the rest, with the race detector' race_rest "$@"
    summary 'make race'
}

case "${1:-}" in
'') whole ;;
race) shift && with_race "$@" ;;
*) echo "scripts/test.sh: unknown command $1; \`race\` is possible, or nothing" >&2 && exit 2 ;;
esac

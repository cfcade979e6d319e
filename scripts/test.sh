#!/usr/bin/env bash
# `make test`: every step runs, also after one failed, and the last lines say which did. Exit code 1 when any failed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

go="${GO:-go}"
export CGO_ENABLED="${CGO_ENABLED:-0}"
GOFLAGS="$("$go" env GOFLAGS) -buildvcs=false" # a clone owned by somebody else has no readable version
export GOFLAGS

# Packages without a goroutine of their own (internal/tidy tests that) run without the race detector, faster.
pure='/(audio|audio/.*|petri|petri/dot|petri/petritest|voicenets|verify|verify/.*|internal/tidy)$'

# Packages with browsers, or processes of our own in real time: each has the processors to itself. The others wait more
# than they work, two at a time.
alone='/(cmd/voicegw|transport/rtc|web)$'

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

# tests MODE PATTERN ARGS...: go test ARGS on the packages whose path matches (MODE -E) or not (MODE -vE).
tests() {
    local mode="$1" pattern="$2" packages
    shift 2
    packages="$("$go" list ./...)" || return 1
    packages="$(grep "$mode" "$pattern" <<<"$packages")" || { echo 'no such package' && return; }
    # shellcheck disable=SC2086 # one argument per package
    "$go" test -timeout 20m "$@" $packages
}

# race MODE PATTERN ARGS... is tests with the race detector. What has no goroutine and would take fifteen times as long is
# compiled as for use: the proofs, and what judges what was heard by Fourier transforms of it.
race() {
    local module=github.com/voicegw/voicegw
    CGO_ENABLED=1 tests "$@" -race "-gcflags=$module/verify/...=-race=false" \
        "-gcflags=$module/audio/audiotest=-race=false"
}

with_race() { race -vE "$pure|$alone" -p 2; }

with_race_alone() { race -E "$alone" -p 1; }

without_race() { "$go" build ./... && tests -vE "$pure" -p 1; }

# allocations runs again, as built for use, what the race detector's own allocations may disturb.
allocations() { tests -vE "$pure" -run 'Alloc'; }

# behind CONSTRAINT FILES... is a pattern of the tests in those files that have this build constraint.
behind() {
    local constraint="$1" files
    shift
    files="$(grep -lxF "//go:build $constraint" "$@")" || return 1
    # shellcheck disable=SC2086 # one argument per file
    sed -nE 's/^func (Test[A-Za-z0-9_]+)\(.*/\1/p' $files | paste -sd '|' | sed 's/.*/^(&)$/'
}

# stories runs the long stories of whole calls, which are built without the race detector alone.
stories() { "$go" test -timeout 20m -run "$(behind '!race' ./*_test.go)" .; }

has_c_compiler() { command -v "$("$go" env CC)" >/dev/null; }

has_z3_headers() { [[ -e /usr/include/z3.h ]]; }

# inductions tests what is behind the build tag z3: proofs with the library of z3, which is C.
inductions() { CGO_ENABLED=1 "$go" test -timeout 10m -tags z3 -run "$(behind z3 verify/smt/*_test.go)" ./verify/smt; }

has_libopus() { command -v pkg-config >/dev/null && pkg-config --exists opus; }

# opus tests what is behind the build tag libopus: Opus to callers over WebRTC, with a C library.
opus() { CGO_ENABLED=1 "$go" test -timeout 10m -tags libopus -run 'Alloc|Encode|Talk|Chromium$' ./transport/rtc; }

main() {
    step 'deps' scripts/deps.sh
    step 'vet' "$go" vet ./...
    step 'staticcheck' "$go" tool -modfile internal/tools/go.mod staticcheck ./...
    step 'tests of the pure packages, and tidy' tests -E "$pure"
    if has_c_compiler; then
        step 'tests of the rest, with the race detector' with_race
        step 'tests with browsers and processes, with the race detector' with_race_alone
        step 'stories of whole calls, without it' stories
        step 'allocation tests of the rest, without it' allocations
    else
        echo
        echo "NOTE: no C compiler ($("$go" env CC)): the race detector cannot run. \`make deps\` installs gcc."
        step 'tests of the rest, without the race detector' without_race
        skip 'race detector (no C compiler: make deps)'
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
    printf '\n== summary\n'
    printf '%s\n' "${results[@]}"
    printf '%-7s %4d s  %s\n' "$([[ $failed == 0 ]] && echo PASSED || echo FAILED)" "$SECONDS" 'make test'
    return "$failed"
}

main "$@"

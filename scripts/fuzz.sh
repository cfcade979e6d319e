#!/usr/bin/env bash
# Runs every fuzz target of the packages named (default ./...) for FUZZTIME each (default 10s). An input that breaks
# one is left in that package's testdata/fuzz, where `go test` finds it from then on.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

go="${GO:-go}"
fuzztime="${FUZZTIME:-10s}"

# targets DIR prints the names of a package's fuzz targets; it compiles only packages whose tests name one, and fails
# when that fails.
targets() {
    local listed
    grep -qs '^func Fuzz' "$1"/*_test.go || return 0
    listed="$("$go" test -list '^Fuzz' "$1")" || { echo "$listed" >&2 && return 1; }
    grep '^Fuzz' <<<"$listed" || true
}

main() {
    local dirs dir names name ran=0 broken=()
    dirs="$("$go" list -f '{{.Dir}}' "${@:-./...}")"
    for dir in $dirs; do
        names="$(targets "$dir")" || broken+=("${dir#"$PWD"/} does not compile")
        for name in $names; do
            printf '\n== %s in %s for %s\n' "$name" "${dir#"$PWD"/}" "$fuzztime"
            "$go" test -run '^$' -fuzz "^$name\$" -fuzztime "$fuzztime" "$dir" || broken+=("$name in ${dir#"$PWD"/}")
            ran=$((ran + 1))
        done
    done
    printf '\n== summary: %d fuzz targets, %d failures\n' "$ran" "${#broken[@]}"
    if ((${#broken[@]} > 0)); then
        printf '%s\n' "${broken[@]}"
        return 1
    fi
}

main "$@"

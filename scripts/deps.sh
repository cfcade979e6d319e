#!/usr/bin/env bash
# Installs what the tests need and this machine lacks: Debian packages, Go modules, npm packages. Says nothing and takes
# a few hundredths of a second when nothing is missing, so every `make test` begins with it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# One line per thing: how we know that it is there (a program or a file) | Debian package | what it is for.
# Further packages (solvers, codecs) get their line here.
needed() {
    cat <<'LIST'
make|make|the targets
/etc/ssl/certs/ca-certificates.crt|ca-certificates|downloading Go modules
chromium|chromium|browser tests
firefox-esr|firefox-esr|a call in another browser
/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf|fonts-dejavu-core|browser tests: letters on the page
espeak-ng|espeak-ng|making speech fixtures
sox|sox|making speech fixtures
z3|z3|proofs for every value of a parameter
cvc5|cvc5|checking those proofs again
node|nodejs|other people's clients, for tests of the endpoints that they call
npm|npm|installing those
promtool|prometheus|checking alert rules
systemd-analyze|systemd|checking the systemd unit
/usr/lib/postgresql/*/bin/initdb|postgresql|sessions and journals in PostgreSQL
LIST
}

# The same for what makes the tests better and can be done without.
wanted() {
    cat <<'LIST'
gcc|gcc|the race detector: without a C compiler the tests run without it
/usr/include/stdio.h|libc6-dev|the race detector
/usr/include/z3.h|libz3-dev|proofs by induction (build tag z3)
/usr/include/opus/opus.h|libopus-dev|Opus to callers over WebRTC (build tag libopus)
pkg-config|pkg-config|finding libopus
chromium-headless-shell|chromium-headless-shell|browser tests in half of the processor time
LIST
}

# missing prints the lines of stdin whose program or file is not there.
missing() {
    local probe rest
    while IFS='|' read -r probe rest; do
        case "$probe" in
        /*) compgen -G "$probe" >/dev/null || echo "$probe|$rest" ;; # a path, or a pattern of paths
        *) command -v "$probe" >/dev/null || echo "$probe|$rest" ;;
        esac
    done
}

say() { printf 'deps: %s\n' "$*" >&2; }

# explain prints for a person which packages the lines of $1 ask for, and why.
explain() {
    local probe package why
    while IFS='|' read -r probe package why; do
        printf '    %-18s %s (looked for %s)\n' "$package" "$why" "$probe" >&2
    done <<<"$1"
}

# packages prints the Debian packages of the lines of $1, each once.
packages() { cut -d'|' -f2 <<<"$1" | sort -u; }

# as_root runs its arguments as root, or fails saying that it cannot.
as_root() {
    if [[ "$(id -u)" == 0 ]]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        say "neither root nor sudo: cannot run: $*"
        return 1
    fi
}

# apt runs apt-get without questions; it waits for another one's lock instead of failing.
apt() {
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y \
        -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 "$@"
}

# install puts the packages of the lines of $1 on this machine.
install() {
    local names still
    if ! command -v apt-get >/dev/null; then
        say 'no apt-get here: install by hand what these Debian packages hold:'
        explain "$1"
        return 1
    fi
    mapfile -t names < <(packages "$1")
    say "installing ${names[*]}"
    apt update || say 'apt-get update failed; trying with the lists that are here'
    if ! apt install --no-install-recommends "${names[@]}"; then
        say 'apt-get failed; these are still missing:'
        explain "$1"
        return 1
    fi
    hash -r
    still="$(missing <<<"$1")"
    if [[ -n "$still" ]]; then
        say 'installed, and yet these are not where we look for them:'
        explain "$still"
        return 1
    fi
}

# check_go fails when there is no Go. Whether it is new enough for go.mod it says itself.
check_go() {
    local want
    want="$(awk '$1 == "go" { print $2 }' go.mod)"
    if ! command -v "${GO:-go}" >/dev/null; then
        say "Go is missing: install Go $want or later, https://go.dev/doc/install"
        return 1
    fi
}

main() {
    local lines line failed=0
    check_go
    lines="$(needed | missing)"
    if [[ -n "$lines" ]]; then
        install "$lines" || failed=1
    fi
    lines="$(wanted | missing)"
    if [[ -n "$lines" ]] && ! install "$lines"; then
        say 'trying one by one'
        while IFS= read -r line; do
            install "$line" </dev/null || say 'going on without it'
        done <<<"$lines"
    fi
    "${GO:-go}" mod download || {
        say 'go mod download failed: the Go modules of go.mod are not all here'
        failed=1
    }
    "${GO:-go}" mod download -modfile=internal/tools/go.mod || {
        say 'go mod download failed: the tools of internal/tools/go.mod are not all here'
        failed=1
    }
    (cd internal/deploycheck && "${GO:-go}" mod download) || {
        say 'go mod download failed: the modules of internal/deploycheck are not all here'
        failed=1
    }
    if command -v npm >/dev/null && ! scripts/npm.sh >/dev/null; then
        say 'npm ci failed: the npm packages of internal/npmtest are not all here'
        failed=1
    fi
    return "$failed"
}

main "$@"

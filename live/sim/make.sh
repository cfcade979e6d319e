#!/usr/bin/env bash
# Makes greeting.wav with espeak-ng and sox.
set -euo pipefail
cd "$(dirname "$0")"
raw=$(mktemp --suffix=.wav)
trap 'rm -f "$raw"' EXIT
espeak-ng -v en-us -s 165 -g 2 -w "$raw" \
    "Hello. Say something, and I will repeat it. You can talk over me at any time."
sox "$raw" -r 16000 -c 1 -e mu-law -b 8 greeting.wav gain -n -4

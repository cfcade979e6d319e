#!/usr/bin/env bash
# Makes the prompts in English with espeak-ng and sox.
set -euo pipefail
cd "$(dirname "$0")"
raw=$(mktemp --suffix=.wav)
trap 'rm -f "$raw"' EXIT
say() {
    espeak-ng -v en-us -s 165 -g 2 -w "$raw" "$2"
    sox "$raw" -r 16000 -c 1 -b 16 "$1.wav" gain -n -4
}
say fallback "I am sorry, I cannot answer that right now."
say goodbye "Thank you for calling. Goodbye."
say reprompt "Are you still there?"
say filler "One moment, please."
say ask_consent "This call is answered by a machine, which listens to what you say. Do you agree?"

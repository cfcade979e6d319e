#!/usr/bin/env bash
# Makes the WAVs beside it with espeak-ng and sox: 16 kHz, 16 bit, mono, 0.3 s of silence at both ends.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

# finish NAME: a WAV on stdin, trimmed, at -3 dBFS, between silences.
finish() {
    sox -D -R -t wav - -b 16 -c 1 -r 16000 "$1.wav" \
        silence 1 0.005 0.3% reverse silence 1 0.005 0.3% reverse gain -n -3 pad 0.3 0.3
}

# say NAME VOICE WORDS_A_MINUTE TEXT
say() { espeak-ng -v "$2" -s "$3" -g 0 --stdout "$4" | finish "$1"; }

say hello    en-us    170 'Hello there, my name is Ada.'
say question en-us+f3 180 'Could you please tell me when the next train to Hamburg leaves?'
say over     en-gb    180 'Stop, wait a moment please.'
say german   de+f2    170 'Guten Tag, ich hätte gern einen Termin am Donnerstag.'
say long     en-gb+m3 180 'The harbour was quiet in the morning, and a few boats came in with the tide, so people bought bread and fish at the market and ran down to the water.'

# A cough: 120 ms of noise with a sharp beginning and a decay.
sox -R -V1 -n -t wav -r 16000 -b 16 -c 1 - synth 0.12 whitenoise fade h 0.004 0.12 0.09 highpass 250 lowpass 5500 |
    sox -D -R -t wav - -b 16 -c 1 -r 16000 cough.wav gain -n -6 pad 0.3 0.3

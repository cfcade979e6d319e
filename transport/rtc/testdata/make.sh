#!/usr/bin/env bash
# Makes the Opus files of this folder from an utterance of audio/audiotest/speech with FFmpeg and libopus: a low rate for
# SILK, a middle one for hybrid, low delay for CELT, and a stereo one. A page holds one packet.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
wav=../../../audio/audiotest/speech/hello.wav
make() { ffmpeg -v error -y -i "$wav" -c:a libopus -vbr on "${@:2}" -page_duration 1 -fflags +bitexact -flags:a +bitexact "$1.opus"; }
make silk -ar 16000 -ac 1 -b:a 14k -application voip
make hybrid -ar 48000 -ac 1 -b:a 28k -application voip -compression_level 10
make celt -ar 48000 -ac 1 -b:a 32k -application lowdelay -frame_duration 20
make stereo -ar 48000 -ac 2 -b:a 40k -application audio

//go:build !libopus

package rtc

import "errors"

// hasOpusEncoder says whether libopus is built in.
const hasOpusEncoder = false

func newOpusEncoder() (encoder, error) {
	return nil, errors.New("transport/rtc: new Opus encoder: built without libopus (build tag libopus)")
}

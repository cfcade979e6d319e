//go:build !libopus

package opus

import "errors"

// HasEncoder reports whether libopus is built in.
const HasEncoder = false

// Encoder is what NewEncoder would return with the build tag libopus.
type Encoder struct{}

// NewEncoder returns an error: libopus is not built in.
func NewEncoder() (*Encoder, error) {
	return nil, errors.New("opus: new encoder: built without libopus (build tag libopus)")
}

// Append is never called: nothing makes an Encoder.
func (*Encoder) Append(dst []byte, _ []int16) ([]byte, error) { return dst, errors.ErrUnsupported }

// Close does nothing.
func (*Encoder) Close() {}

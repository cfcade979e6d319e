package gemini

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
)

// binary is a field of bytes, which JSON holds as base64: in the standard or the URL-safe alphabet,
// with or without padding.
type binary []byte

// errBase64 is the error of a field that is not base64. It quotes nothing.
var errBase64 = errors.New("not base64")

// UnmarshalJSON implements json.Unmarshaler.
func (b *binary) UnmarshalJSON(raw []byte) error {
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return err
	}
	var err error
	*b, err = decodeBase64(nil, []byte(text))
	return err
}

// decodeBase64 decodes base64 of any form. It uses the memory of dst.
func decodeBase64(dst, src []byte) ([]byte, error) {
	urlSafe := bytes.IndexByte(src, '-') >= 0 || bytes.IndexByte(src, '_') >= 0
	padded := len(src)%4 == 0 || src[len(src)-1] == '='
	encoding := base64.StdEncoding
	switch {
	case urlSafe && padded:
		encoding = base64.URLEncoding
	case urlSafe:
		encoding = base64.RawURLEncoding
	case !padded:
		encoding = base64.RawStdEncoding
	}
	dst = slices.Grow(dst[:0], encoding.DecodedLen(len(src)))
	n, err := encoding.Decode(dst[:cap(dst)], src)
	if err != nil {
		return dst, errBase64
	}
	return dst[:n], nil
}

package wsendpoint

import (
	"strings"
	"unicode"

	"github.com/voicegw/voicegw/transport"
)

// Label makes a label for Hello.Client from the far end's description of itself.
func Label(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
	return strings.TrimSpace(transport.Cut(s, transport.ClientLenMax))
}

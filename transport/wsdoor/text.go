package wsdoor

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/voicegw/voicegw/transport"
)

// Names of what a far end says of the call, in Hello.Params: Param reads them. Each is up to the gateway's hooks.
const (
	ParamModel             = "model"
	ParamVoice             = "voice"
	ParamSystemInstruction = "system_instruction"
	ParamTools             = "tools" // the declarations as JSON, or only their names where those are too long
)

// Cut shortens a string to at most n bytes of valid UTF-8.
func Cut(s string, n int) string {
	s = strings.ToValidUTF8(s, "?")
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// Label makes a label for Hello.Client of what a far end says of itself.
func Label(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
	return strings.TrimSpace(Cut(s, transport.ClientLenMax))
}

// SetParam puts what a far end says into Hello.Params, for the gateway's hooks. A text longer than a value may be is
// cut into pieces under name, name.2, name.3 and so on: [Param] joins them. It reports false, and puts nothing, when
// there is no room for all of it. An empty text is nothing.
func SetParam(h *transport.Hello, name, text string) bool {
	pieces := pieces(strings.ToValidUTF8(text, "?"))
	if len(h.Params)+len(pieces) > transport.ParamsMax {
		return false
	}
	if h.Params == nil {
		h.Params = map[string]string{}
	}
	for i, p := range pieces {
		h.Params[pieceName(name, i)] = p
	}
	return true
}

// Param is what SetParam put under name.
func Param(params map[string]string, name string) string {
	var b strings.Builder
	for i := range transport.ParamsMax {
		p, ok := params[pieceName(name, i)]
		if !ok {
			break
		}
		b.WriteString(p)
	}
	return b.String()
}

func pieceName(name string, i int) string {
	if i == 0 {
		return name
	}
	return name + "." + strconv.Itoa(i+1)
}

// pieces cuts a text between its letters.
func pieces(s string) []string {
	var out []string
	for len(s) > 0 {
		p := Cut(s, transport.ParamValueLenMax)
		out = append(out, p)
		s = s[len(p):]
	}
	return out
}

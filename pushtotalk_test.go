package voicegw

import (
	"slices"
	"testing"

	"github.com/voicegw/voicegw/voicenets"
)

// TestPushToTalkEdges: a press starts and confirms speech, a release stops it, and frames in
// between say that it continues. The position counts, not how often the peer sends it.
func TestPushToTalkEdges(t *testing.T) {
	const start, more, confirm, stop = voicenets.SpeechStart, voicenets.SpeechMore, voicenets.SpeechConfirm,
		voicenets.SpeechStop
	type edges = []voicenets.Edge
	for name, test := range map[string]struct {
		do   string // + press, - release, r repeat, . a frame
		want edges
	}{
		"press and release":      {"+-", edges{start, confirm, stop}},
		"twice pressed":          {"++-", edges{start, confirm, stop}},
		"twice released":         {"+--", edges{start, confirm, stop}},
		"released only":          {"-", nil},
		"a frame without button": {"..........", nil},
		"less than a report":     {"+....-", edges{start, confirm, stop}},
		"a report":               {"+.....-", edges{start, confirm, more, stop}},
		"two reports":            {"+..........", edges{start, confirm, more, more}},
		"a press counts anew":    {"+....-+....", edges{start, confirm, stop, start, confirm}},
		"repeated":               {"+r-", edges{start, confirm, start, confirm, stop}},
		"repeated counts anew":   {"+....r....", edges{start, confirm, start, confirm}},
		"nothing to repeat":      {"r+-r", edges{start, confirm, stop}},
	} {
		var b pushToTalk
		var got edges
		edge := func(e voicenets.Edge) { got = append(got, e) }
		for _, op := range test.do {
			switch op {
			case '+', '-':
				b.press(op == '+', edge)
			case 'r':
				b.repeat(edge)
			case '.':
				b.hear(edge)
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

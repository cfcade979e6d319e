package rtvi

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/wsconn"
	"github.com/voicegw/voicegw/transport/wsendpoint"
)

// TestSentences joins fragments, which a | separates, and cuts them into sentences.
func TestSentences(t *testing.T) {
	for in, want := range map[string]string{
		"Hello there. How |are you? Fi":            "Hello there.|How are you?||Fi",
		"It costs 3.|14 euros. Good.":              "It costs 3.14 euros.||Good.",
		"Dr. Smith is in, e.g. on Mondays. Yes.":   "Dr. Smith is in, e.g. on Mondays.||Yes.",
		"Am 3. Oktober, z. B. um 8. Gut":           "||Am 3. Oktober, z. B. um 8. Gut",
		"Well... maybe. Wait… what?! Oh":           "Well...|maybe.|Wait…|what?!||Oh",
		`She said "no." And "why?" He left. `:      `She said "no."|And "why?"||He left.`,
		"こんにちは。元気|ですか？はい":                          "こんにちは。|元気ですか？||はい",
		"नमस्ते। आप":                               "नमस्ते।||आप",
		"Visit voicegw.example now. It | is there": "Visit voicegw.example now.||It  is there",
		"J. R. R. Tolkien wrote. Then":             "J. R. R. Tolkien wrote.||Then",
		"Stop! go on.|  ":                          "Stop!||go on.",
		"":                                         "||",
	} {
		var s sentences
		var whole []string
		for _, fragment := range strings.Split(in, "|") {
			whole = append(whole, s.add(fragment)...)
		}
		if got := strings.Join(whole, "|") + "||" + s.rest(); got != want {
			t.Errorf("%q is cut as %q, want %q", in, got, want)
		}
	}
}

// FuzzSentences loses and adds nothing but spaces, and cuts what is too long.
func FuzzSentences(f *testing.F) {
	f.Add("Hello. You", " there?! Dr. X")
	f.Add(strings.Repeat("word ", 400), strings.Repeat("x", 2001))
	f.Add("a\xff.。\xe3\x80", "\x82 b. C")
	f.Fuzz(func(t *testing.T, a, b string) {
		var s sentences
		var out strings.Builder
		for _, fragment := range []string{a, b} {
			for _, sentence := range s.add(fragment) {
				if sentence == "" || len(sentence) > sentenceBytesMax && sentenceEnd(sentence+" X") == 0 {
					t.Fatalf("a sentence of %d bytes: %q", len(sentence), sentence)
				}
				out.WriteString(sentence)
			}
			if len(s.text) > sentenceBytesMax {
				t.Fatalf("%d bytes wait", len(s.text))
			}
		}
		out.WriteString(s.rest())
		bare := func(s string) string {
			return strings.Map(func(r rune) rune {
				if unicode.IsSpace(r) || r == utf8.RuneError {
					return -1
				}
				return r
			}, s)
		}
		if got, want := bare(out.String()), bare(a+b); got != want {
			t.Fatalf("%q became %q", want, got)
		}
	})
}

// tell has a codec tell of a reply of two sentences, and of the turn's end.
func tell(t *testing.T, c *codec, end transport.TurnEnd) (told []string) {
	t.Helper()
	var out wsendpoint.Outbox
	message := func(m transport.Message) { c.Message(&m, &out) }
	message(transport.Message{Kind: transport.MessageTurn, State: transport.StateStart, Generation: 1})
	for _, text := range []string{"Good mor", "ning. How are", " you?"} {
		message(transport.Message{Kind: transport.MessageTranscript, Who: transport.WhoModel, Text: text, Generation: 1})
	}
	message(transport.Message{Kind: transport.MessageTurn, State: transport.StateEnd, Generation: 1, TurnEnd: end})
	for _, line := range said(t, &out) {
		if strings.HasPrefix(line, "bot-output ") || strings.HasPrefix(line, "bot-transcription ") {
			told = append(told, line)
		}
	}
	return told
}

// TestReplyInSentences: clients of RTVI 2 are told of a sentence when it is known, and that it was
// spoken when the whole reply was; clients of 1.x once, in the fields and the version they know.
func TestReplyInSentences(t *testing.T) {
	output := func(id, text, status, spoken, rest string) string {
		return `bot-output {"aggregated_by":"sentence","segment_id":` + id + `,"spoken_progress":{"accumulated_text":"` +
			spoken + `","remaining_text":"` + rest + `"},"spoken_status":"` + status + `","text":"` + text +
			`","will_be_spoken":true}`
	}
	transcription := func(text string) string { return `bot-transcription {"text":"` + text + `"}` }
	legacy := func(text string) string {
		return `bot-output {"aggregated_by":"sentence","spoken":true,"text":"` + text + `"}`
	}
	const one, two = "Good morning.", "How are you?"
	newer := []string{transcription(one), output("1", one, "new", "", one), transcription(two),
		output("2", two, "new", "", two)}
	for name, tt := range map[string]struct {
		client  wsconn.Message
		end     transport.TurnEnd
		version string
		want    []string
	}{
		"2, to its end": {clientReady(), transport.TurnComplete, "2.1.0",
			append(newer[:4:4], output("1", one, "completed", one, ""), output("2", two, "completed", two, ""))},
		"2, interrupted": {clientReady(), transport.TurnInterrupted, "2.1.0", newer},
		"1.2": {envelope("client-ready", `{"version":"1.2.0"}`), transport.TurnComplete, "1.2.0",
			[]string{transcription(one), legacy(one), transcription(two), legacy(two)}},
		"none": {envelope("client-ready", `{}`), transport.TurnInterrupted, "2.1.0", newer},
	} {
		c, _, ready, err := greet(t, tt.client)
		if err != nil || !strings.Contains(ready[0], `"version":"`+tt.version+`"`) {
			t.Fatalf("%s: %v, %v", name, ready, err)
		}
		if got := tell(t, c, tt.end); strings.Join(got, "\n") != strings.Join(tt.want, "\n") {
			t.Errorf("%s is told\n%s", name, strings.Join(got, "\n"))
		}
	}
}

// TestOpenSentencesAreFew: of a reply without end the last ones are remembered.
func TestOpenSentencesAreFew(t *testing.T) {
	c, _, _, _ := greet(t, clientReady())
	var out wsendpoint.Outbox
	for range openMax + 5 {
		c.sentence("Go.", &out)
	}
	if n := len(c.reply.open); n != openMax || c.reply.open[0].id != 6 {
		t.Errorf("%d are open, the first is %d", n, c.reply.open[0].id)
	}
}

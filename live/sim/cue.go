package sim

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/voicegw/voicegw/internal/spelling"
)

// cue is a point in a conversation at which a rule can act.
type cue uint8

const (
	cueSetup cue = iota + 1
	cueResume
	cueReady
	cueMessage
	cueAudioInCall
	cueText
	cueContent
	cueStart
	cueTurn
	cueReply
	cueChunk
	cueGenerated
	cueInterrupted
	cueTurnComplete
	cueCall
	cueToolReply
	cuesEnd
)

// cueNames returns the names in the scenario language, in the order of the constants.
func cueNames() []string {
	return []string{"setup", "resume", "ready", "message", "audio_in_call", "text", "content", "start", "turn", "reply",
		"chunk", "generated", "interrupted", "turn_complete", "call", "tool_reply"}
}

// rule is one line of a scenario: what to do at a cue.
type rule struct {
	cue   cue
	nth   int    // number among cues of its kind, from 1; 0: all
	reply int    // for chunks: the number of the reply, from 1; 0: all
	words string // for texts: what the text must contain
	delay time.Duration
	act   action
}

// at reports whether the rule acts at this cue.
func (r *rule) at(c cue, nth, reply int, words string) bool {
	return r.cue == c && (r.nth == 0 || r.nth == nth) && (r.reply == 0 || r.reply == reply) &&
		strings.Contains(words, r.words)
}

// parseRule reads CUE [N] [+DELAY]: ACTION.
func parseRule(text string) (rule, error) {
	when, what, found := cutRule(text)
	if !found {
		return rule{}, fmt.Errorf("no colon after the cue; want on CUE: ACTION")
	}
	var r rule
	name, rest := cutWord(when)
	for i, known := range cueNames() {
		if known == name {
			r.cue = cue(i + 1)
		}
	}
	if r.cue == 0 {
		return rule{}, fmt.Errorf("no cue %.20q; the nearest is %q", name, nearest(name, cueNames()))
	}
	if err := r.parseWhich(rest); err != nil {
		return rule{}, err
	}
	act, err := parseAction(what)
	r.act = act
	return r, err
}

// cutRule splits at the first colon outside of quotes.
func cutRule(text string) (when, what string, found bool) {
	quoted := false
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\' && quoted:
			i++
		case text[i] == '"':
			quoted = !quoted
		case text[i] == ':' && !quoted:
			return text[:i], strings.TrimSpace(text[i+1:]), true
		}
	}
	return "", "", false
}

// parseWhich reads what follows the name of a cue: a number, a text, "of reply N" and a delay, in
// this order.
func (r *rule) parseWhich(text string) (err error) {
	word, rest := cutWord(text)
	if word != "" && word[0] >= '0' && word[0] <= '9' {
		if r.nth, err = parseCount(word); err != nil {
			return err
		}
		text = rest
	}
	if strings.HasPrefix(text, `"`) && r.cue == cueText {
		quoted, err := strconv.QuotedPrefix(text)
		if err != nil {
			return fmt.Errorf("words %.40s; want them in quotes", text)
		}
		r.words, _ = strconv.Unquote(quoted)
		text = strings.TrimSpace(text[len(quoted):])
	}
	if number, ok := strings.CutPrefix(text, "of reply "); ok && r.cue == cueChunk {
		word, rest := cutWord(number)
		if r.reply, err = parseCount(word); err != nil {
			return err
		}
		text = rest
	}
	if delay, ok := strings.CutPrefix(text, "+"); ok {
		r.delay, err = parseSpan(delay, time.Hour)
		return err
	}
	if text != "" {
		return fmt.Errorf("%.40q after the cue; want a number, +DELAY or a colon", text)
	}
	return nil
}

// parseSpan reads a duration of at most most.
func parseSpan(text string, most time.Duration) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d > most {
		return 0, fmt.Errorf("time %.20q; want one such as 200ms, at most %v", text, most)
	}
	return d, nil
}

// nearest returns the word of known that is most similar to word.
func nearest(word string, known []string) string { return spelling.Closest(word, known, 1)[0] }

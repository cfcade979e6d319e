package sim

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// cue is a point of a conversation at which a rule may act.
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

// cueNames are the words of the language, in the order of the constants.
func cueNames() []string {
	return []string{"setup", "resume", "ready", "message", "audio_in_call", "text", "content", "start", "turn", "reply",
		"chunk", "generated", "interrupted", "turn_complete", "call", "tool_reply"}
}

// rule is one line of a scenario: what to do at a cue.
type rule struct {
	cue   cue
	nth   int    // which of its kind, from 1; 0 is every one
	reply int    // chunks: of which reply, from 1; 0 is every one
	words string // texts: what must be in it
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

// parseWhich reads what follows the name of the cue: a number, words, "of reply N" and a delay, in this order.
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

// parseSpan reads a length of time up to most.
func parseSpan(text string, most time.Duration) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d > most {
		return 0, fmt.Errorf("time %.20q; want one such as 200ms, at most %v", text, most)
	}
	return d, nil
}

// nearest is the word of known with the fewest differences from word.
func nearest(word string, known []string) string {
	best, least := "", 1<<30
	for _, k := range known {
		if d := distance(word[:min(len(word), 40)], k); d < least {
			best, least = k, d
		}
	}
	return best
}

// distance counts the insertions, deletions and replacements between two words (Levenshtein 1965).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j]+1, row[j+1]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}

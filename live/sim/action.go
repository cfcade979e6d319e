package sim

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// action is the effect of a rule.
type action func(m *machine)

// Limits of the arguments of actions.
const (
	padBytesMax  = 16 << 20
	stormMax     = 200
	sayMax       = time.Minute
	argBytesMax  = 16 << 10
	goAwayMax    = time.Hour
	rateHzLowest = 1
)

// plainActions returns the actions without arguments.
func plainActions() map[string]action {
	return map[string]action{
		"drop":   func(m *machine) { m.fault("drop TCP"); m.drop() },
		"freeze": (*machine).freeze,
		"stall":  func(m *machine) { m.fault("stall writes"); m.stalled = true },
		"deaf":   func(m *machine) { m.fault("deaf"); m.deaf = true },
		"ignore": func(m *machine) { m.ignored = true },
		"empty":  func(m *machine) { m.answer = &answer{} },
		"repeat": (*machine).repeat,
		"cut":    (*machine).cut,
		"forget": func(m *machine) { m.fault("forget handles"); m.store.forget() },
	}
}

// argumentActions returns the actions with arguments.
func argumentActions() map[string]func(text string) (action, error) {
	return map[string]func(string) (action, error){
		"close": parseClose, "go_away": parseGoAway, "send": parseSend, "pad": parsePad, "audio": parseAudioAction,
		"say": parseSay, "hold": parseHold, "cancel": parseCancel,
		"call":  func(text string) (action, error) { return parseCall(1, false, text) },
		"calls": func(text string) (action, error) { return parseCalls(false, text) },
		"storm": func(text string) (action, error) { return parseCalls(true, text) },
	}
}

// parseAction reads the part of a rule after the colon.
func parseAction(text string) (action, error) {
	name, rest := cutWord(text)
	if act, ok := plainActions()[name]; ok {
		if rest != "" {
			return nil, fmt.Errorf("%s: %.40q; want nothing more", name, rest)
		}
		return act, nil
	}
	parse, ok := argumentActions()[name]
	if !ok {
		known := slices.Sorted(maps.Keys(plainActions()))
		known = append(known, slices.Sorted(maps.Keys(argumentActions()))...)
		return nil, fmt.Errorf("no action %.20q; the nearest is %q", name, nearest(name, known))
	}
	act, err := parse(rest)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return act, nil
}

func parseClose(text string) (action, error) {
	word, reason := cutWord(text)
	code, err := strconv.Atoi(word)
	if err != nil || !sendable(code) || len(reason) > reasonBytesMax {
		return nil, fmt.Errorf("%.40q; want a code that may be sent, such as 1011, and a reason up to 123 bytes", text)
	}
	return func(m *machine) { m.refuse(&refusal{code, reason}) }, nil
}

// sendable reports whether a close frame may have a code (RFC 6455 section 7.4).
func sendable(code int) bool {
	return code >= 1000 && code <= 1003 || code >= 1007 && code <= 1014 || code >= 3000 && code <= 4999
}

// parseGoAway reads the time left, and "silent" if the connection is not to end then.
func parseGoAway(text string) (action, error) {
	word, rest := cutWord(text)
	left, err := parseSpan(word, goAwayMax)
	if err == nil && rest != "" && rest != "silent" {
		err = fmt.Errorf("%.40q; want nothing more, or silent", rest)
	}
	return func(m *machine) {
		m.announceEnd(left)
		if rest != "silent" {
			m.deadline = m.now + left
		}
	}, err
}

func parseSend(text string) (action, error) {
	if text == "" {
		return nil, fmt.Errorf("nothing; want a message, JSON or not")
	}
	return func(m *machine) { m.fault("send"); m.send(m.json(text)) }, nil
}

func parsePad(text string) (action, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > padBytesMax {
		return nil, fmt.Errorf("%.20q; want a number of bytes, at most %d", text, padBytesMax)
	}
	return func(m *machine) {
		m.fault("oversize")
		m.send(m.json(`{"serverContent":{"pad":"` + strings.Repeat("x", n) + `"}}`))
	}, nil
}

// parseAudioAction reads a length and an optional rate to announce. The samples are at 24 kHz in
// any case.
func parseAudioAction(text string) (action, error) {
	word, rate := cutWord(text)
	length, err := parseSpan(word, 2*time.Second)
	rateHz := outputRateHz
	if err == nil && rate != "" {
		if rateHz, err = strconv.Atoi(rate); err != nil || rateHz < rateHzLowest {
			err = fmt.Errorf("rate %.20q; want a number of Hz", rate)
		}
	}
	return func(m *machine) { m.fault("audio"); m.sendAudio(length, rateHz) }, err
}

// parseSay reads a length and an optional transcript in quotes.
func parseSay(text string) (action, error) {
	word, quoted := cutWord(text)
	length, err := parseSpan(word, sayMax)
	words := ""
	if err == nil && quoted != "" {
		if words, err = strconv.Unquote(quoted); err != nil {
			err = fmt.Errorf("words %.40q; want them in quotes", quoted)
		}
	}
	return func(m *machine) { m.sayTone(length, words) }, err
}

func parseHold(text string) (action, error) {
	d, err := parseSpan(text, time.Hour)
	return func(m *machine) { m.hold(d) }, err
}

func parseCancel(text string) (action, error) {
	if text != "" && text != "last" {
		return nil, fmt.Errorf("%.40q; want nothing more, or last", text)
	}
	return func(m *machine) {
		if text == "last" {
			m.cancelLast()
			return
		}
		m.cancelCalls(func(*call) bool { return true })
	}, nil
}

func parseCalls(separate bool, text string) (action, error) {
	word, rest := cutWord(text)
	n, err := parseCount(word)
	if err != nil || n > stormMax {
		return nil, fmt.Errorf("%.20q; want how many calls, at most %d", word, stormMax)
	}
	return parseCall(n, separate, rest)
}

// parseCall reads the name of a function and its arguments, a JSON object.
func parseCall(n int, separate bool, text string) (action, error) {
	name, args := cutWord(text)
	if name == "" || len(name) > 64 || strings.ContainsAny(name, `"{`) {
		return nil, fmt.Errorf("%.40q; want the name of a function", text)
	}
	setDefault(&args, "{}")
	var object map[string]json.RawMessage
	if len(args) > argBytesMax || json.Unmarshal([]byte(args), &object) != nil || object == nil {
		return nil, fmt.Errorf("arguments %.40q; want a JSON object", args)
	}
	return func(m *machine) { m.callTool(n, separate, name, args) }, nil
}

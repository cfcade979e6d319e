package claim

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/voicegw/voicegw/verify/expr"
	"github.com/voicegw/voicegw/verify/netmodel"
)

// Forms are the forms that Parse reads.
func Forms() []string {
	return []string{"deadlock-free", "bound PLACE <= N", "never EXPR", "reach EXPR", "mutex PLACE PLACE ...",
		"fires TRANSITION ...", "EXPR leads to EXPR", "within TIME from EVENT ... to EVENT ..."}
}

// Parse reads a claim:
//
//	deadlock-free                 DeadlockFree
//	bound p <= 3                  Never: the place never holds more
//	never a && b                  Never
//	reach a && b                  Reach
//	mutex p q r                   Never: at most one of the places is marked
//	fires t u                     Fires; without names, all transitions
//	a leads to b                  LeadsTo
//	within 2s from t to u +p      Watch: after each event t, u or +p comes within 2 s
//
// For expressions see expr.Parse, for events netmodel.Observer. A name with spaces needs double
// quotes. Parse does not look names up: Resolve does.
func Parse(text string) (Claim, error) {
	text = strings.TrimSpace(text)
	verb, rest, _ := strings.Cut(text, " ")
	rest = strings.TrimSpace(rest)
	if first, then, found := cutOutsideQuotes(text, " leads to "); found {
		return parseLeads(first, then)
	}
	switch verb {
	case "deadlock-free":
		if rest != "" {
			return nil, fmt.Errorf("deadlock-free takes nothing, not %q", rest)
		}
		return DeadlockFree{}, nil
	case "bound":
		return parseBound(rest)
	case "never":
		return Never{Expr: rest}, parses(rest)
	case "reach":
		return Reach{Expr: rest}, parses(rest)
	case "mutex":
		return parseMutex(rest)
	case "fires":
		names, err := words(rest)
		return Fires{Transitions: names}, err
	case "within":
		return parseWithin(rest)
	}
	return nil, fmt.Errorf("want one of: %s", strings.Join(Forms(), "; "))
}

// Resolve returns an error for a name of a claim that a net does not have.
func Resolve(c Claim, m *netmodel.Model) error {
	var err error
	switch c := c.(type) {
	case Fires:
		_, err = m.Named(c.Transitions...)
	case Watch:
		_, err = m.Observe(c.Observer)
	case LeadsTo:
		if _, err = m.Bind(c.First); err == nil {
			_, err = m.Bind(c.Then)
		}
	default:
		if text := ExprOf(c); text != "" {
			_, err = m.Bind(text)
		}
	}
	return err
}

// Bound says that a place never holds more than n tokens.
func Bound(place string, n int) Never { return Never{Expr: fmt.Sprintf("%q > %d", place, n)} }

// Mutex says that at most one of the places is marked at a time.
func Mutex(places ...string) Never {
	var pairs []string
	for i, a := range places {
		for _, b := range places[i+1:] {
			pairs = append(pairs, fmt.Sprintf("%q >= 1 && %q >= 1", a, b))
		}
	}
	return Never{Expr: strings.Join(pairs, " || ")}
}

// Fires says that each of some transitions fires somewhere; none means all.
type Fires struct{ Transitions []string }

// Text is "": the graph proves it.
func (Fires) Text() string { return "" }

// Scope is Whole.
func (Fires) Scope() Scope { return Whole }

// parses returns the error of an expression, if any.
func parses(text string) error {
	_, err := expr.Parse(text)
	return err
}

func parseLeads(first, then string) (Claim, error) {
	if err := parses(first); err != nil {
		return nil, err
	}
	return LeadsTo{First: first, Then: then}, parses(then)
}

func parseBound(text string) (Claim, error) {
	at := strings.LastIndex(text, "<=")
	if at < 0 {
		return nil, fmt.Errorf("want bound PLACE <= N")
	}
	place := strings.TrimSpace(text[:at])
	if len(place) > 1 && place[0] == '"' && place[len(place)-1] == '"' {
		place = place[1 : len(place)-1]
	}
	n, err := strconv.ParseUint(strings.TrimSpace(text[at+2:]), 10, 30)
	if err != nil || place == "" {
		return nil, fmt.Errorf("want bound PLACE <= N, with a whole number N")
	}
	c := Bound(place, int(n))
	return c, parses(c.Expr)
}

func parseMutex(text string) (Claim, error) {
	places, err := words(text)
	if err != nil {
		return nil, err
	}
	if len(places) < 2 {
		return nil, fmt.Errorf("want mutex PLACE PLACE ..., with at least two places")
	}
	c := Mutex(places...)
	return c, parses(c.Expr)
}

func parseWithin(text string) (Claim, error) {
	list, err := words(text)
	if err != nil {
		return nil, err
	}
	to := len(list)
	for i, w := range list {
		if w == "to" {
			to = i
		}
	}
	if to < 3 || to >= len(list)-1 || list[1] != "from" {
		return nil, errors.New("want within TIME from EVENT [EVENT ...] to EVENT [EVENT ...]")
	}
	limit, err := time.ParseDuration(list[0])
	if err != nil || limit <= 0 {
		return nil, fmt.Errorf("within: %q is no time above 0, such as 500ms or 2s", list[0])
	}
	// The observer's limit is the first time that is too late.
	return Watch{Observer: netmodel.Observer{
		Name: "elapsed", Start: list[2:to], Stop: list[to+1:], Limit: limit + 1}}, nil
}

// words splits a text at spaces. A word in double quotes may contain spaces.
func words(text string) ([]string, error) {
	var out []string
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		var w string
		if text[0] != '"' {
			w, text, _ = strings.Cut(text, " ")
		} else if end := strings.IndexByte(text[1:], '"'); end < 0 {
			return nil, fmt.Errorf("the quote %s is not closed", text)
		} else {
			w, text = text[1:end+1], text[end+2:]
		}
		if w == "" {
			return nil, fmt.Errorf("a name is empty")
		}
		out = append(out, w)
	}
	return out, nil
}

// cutOutsideQuotes cuts a text at the first separator that is not in double quotes.
func cutOutsideQuotes(text, sep string) (before, after string, found bool) {
	quoted := false
	for i := range len(text) {
		switch {
		case text[i] == '"':
			quoted = !quoted
		case !quoted && strings.HasPrefix(text[i:], sep):
			return text[:i], text[i+len(sep):], true
		}
	}
	return text, "", false
}

package netfile

import (
	"encoding/xml"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/voicegw/voicegw/petri"
)

// label takes what a label states about a node or an arc.
func (r *pnmlReader) label(e *element, label, text string) error {
	text = strings.TrimSpace(text)
	switch n, a := e.node, e.arc; {
	case n != nil && label == "name":
		n.name = text
	case n != nil && label == "initialMarking":
		return r.number(text, &n.tokens, 0)
	case n != nil && label == "capacity":
		if text != "0" { // PIPE: none
			return r.fail("the place has the capacity %q; capacities cannot be read: an inhibitor arc says the same", clip(text))
		}
	case n != nil && label == "timed":
		if text != "true" && text != "false" {
			return r.fail("the transition is timed %q, which is neither true nor false", clip(text))
		}
		n.timed = text
	case n != nil && label == "priority":
		return r.whole(text, &n.priority, 0)
	case a != nil && (label == "inscription" || label == "weight"):
		return r.number(text, &a.weight, 1)
	case a != nil && (label == "type" || label == "arctype"):
		a.kind = strings.ToLower(text)
	}
	return nil
}

// number reads a count. PIPE names the kind of token: "Default,3", or "Red,0,Blue,2"; only one kind
// can be read.
func (r *pnmlReader) number(text string, to *int, least int) error {
	parts := strings.Split(text, ",")
	if len(parts) == 1 { // PIPE means its first kind
		parts = []string{"Default", text}
	}
	sum := 0
	for pair := range slices.Chunk(parts, 2) {
		if len(pair) < 2 {
			return r.fail("the count %q is no list of kinds of token, each with a number", clip(text))
		}
		n, colour := 0, strings.TrimSpace(pair[0])
		if err := r.whole(strings.TrimSpace(pair[1]), &n, 0); err != nil {
			return err
		}
		switch {
		case n == 0:
			continue
		case r.colour == "":
			r.colour = colour
		case r.colour != colour:
			return r.fail("tokens of kind %q beside those of kind %q; only nets with one kind are read", clip(colour),
				clip(r.colour))
		}
		sum += n
	}
	return r.whole(strconv.Itoa(sum), to, least)
}

func (r *pnmlReader) whole(text string, to *int, least int) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > petri.MaxTokens {
		return r.fail("the number %q; want %d to %d", clip(text), least, petri.MaxTokens)
	}
	*to = n
	return nil
}

// interval reads TINA's interval of a transition: <cn>4</cn><cn>9</cn> or <cn>4</cn><ci>infty</ci>.
// A bound of n is n milliseconds.
func (r *pnmlReader) interval(n *node, t xml.StartElement) error {
	var is struct {
		Bounds []struct {
			XMLName xml.Name
			Text    string     `xml:",chardata"`
			Below   []struct{} `xml:",any"`
		} `xml:",any"`
	}
	if err := r.x.DecodeElement(&is, &t); err != nil {
		return r.fail("%v", err)
	}
	closure := "closed"
	for _, a := range t.Attr {
		if a.Name.Local == "closure" {
			closure = a.Value
		}
	}
	bound := func(i int) (time.Duration, bool) {
		b := is.Bounds[i]
		k, err := strconv.ParseInt(strings.TrimSpace(b.Text), 10, 64)
		return time.Duration(k) * time.Millisecond, err == nil && k >= 0 && k <= maxTick && b.XMLName.Local == "cn" &&
			len(b.Below) == 0
	}
	if len(is.Bounds) != 2 {
		return r.fail("an interval has two bounds, this one %d", len(is.Bounds))
	}
	first, ok := bound(0)
	last, finite := bound(1)
	open := is.Bounds[1].XMLName.Local == "ci" && strings.TrimSpace(is.Bounds[1].Text) == "infty"
	switch {
	case !ok || !finite && !open:
		return r.fail("the bounds %q and %q are no whole numbers up to %d, the second perhaps infty",
			clip(is.Bounds[0].Text), clip(is.Bounds[1].Text), maxTick)
	case open && (closure == "closed-open" || closure == "closed"):
		n.when = petri.Interval{Earliest: first, Latest: petri.Forever}
	case closure != "closed":
		return r.fail("the interval is %s, which is not supported; only closed ones are", clip(closure))
	case last < first:
		return r.fail("the interval from %s to %s is empty", clip(is.Bounds[0].Text), clip(is.Bounds[1].Text))
	default:
		n.when = petri.Between(first, last)
	}
	return nil
}

package petri

import (
	"fmt"
	"strconv"
	"strings"
)

// ParseToken makes a token from text, for scripts: the name of a key for a
// colour that is an enum; JSON; or, for a colour that is decoded from a JSON
// string, the bare string. Empty text is the zero value. place is the qualified
// name of a place. The error says what the text should be.
func (p *Program) ParseToken(place, text string) (Token, error) {
	i, ok := p.byName[place]
	if !ok {
		return Token{}, fmt.Errorf("petri: parse token: net %q has no place %q", p.name, place)
	}
	pl := &p.places[i]
	v, err := pl.col.parse(strings.TrimSpace(text))
	if err != nil {
		return Token{}, fmt.Errorf("petri: parse token for place %q: %w", place, err)
	}
	return Token{place: place, value: v}, nil
}

func (c *colour) parse(text string) (any, error) {
	if c.unit {
		if text != "" {
			return nil, fmt.Errorf("%q, but its tokens carry no value", text)
		}
		return Unit{}, nil
	}
	if c.enum {
		return c.parseKey(text)
	}
	if text == "" {
		return c.decodeZero()
	}
	v, err := c.decode([]byte(text))
	if err == nil {
		return v, nil
	}
	if v, quoted := c.decode([]byte(strconv.Quote(text))); quoted == nil {
		return v, nil
	}
	return nil, err
}

// parseKey finds an enum's value by the name of its key; "" is the first.
func (c *colour) parseKey(text string) (any, error) {
	for k, name := range c.keys {
		if name == text || text == "" {
			return c.fromKey(Key(k)), nil
		}
	}
	return nil, fmt.Errorf("%q is no %s: it is one of %s", text, c.typ, strings.Join(c.keys, ", "))
}

// decodeZero is the zero value, but an empty struct for a pointer to one.
func (c *colour) decodeZero() (any, error) {
	if v, err := c.decode([]byte("{}")); err == nil && c.direct {
		return v, nil
	}
	return c.decode([]byte("null"))
}

package petri

import (
	"fmt"
	"strconv"
	"strings"
)

// ParseToken returns a token for the place with the given qualified name. Scripts use it. text is
// the name of a key if the colour is an enum, and JSON otherwise; a colour that decodes from a JSON
// string also accepts the bare string. Empty text means the zero value. The error says what the
// text should be.
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
			return nil, fmt.Errorf("text %q for a place whose tokens carry no value", text)
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

// parseKey returns the value of an enum whose key has the given name. "" means the first key.
func (c *colour) parseKey(text string) (any, error) {
	for k, name := range c.keys {
		if name == text || text == "" {
			return c.fromKey(Key(k)), nil
		}
	}
	return nil, fmt.Errorf("%q is not a %s; use one of %s", text, c.typ, strings.Join(c.keys, ", "))
}

// decodeZero returns the zero value. For a pointer it returns a pointer to an empty struct.
func (c *colour) decodeZero() (any, error) {
	if v, err := c.decode([]byte("{}")); err == nil && c.direct {
		return v, nil
	}
	return c.decode([]byte("null"))
}

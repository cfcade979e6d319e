package petri

import "encoding/json"

// The colours of the random nets, one of each sort.

// hue is an enum of three.
type hue uint8

func (h hue) Key() Key         { return Key(h) }
func (hue) KeyNames() []string { return []string{"red", "green", "blue"} }

// turn is a pointer with a generation.
type turn struct {
	gen Gen
	id  int
}

func (t *turn) Generation() Gen { return t.gen }

// MarshalJSON writes the generation and the number.
func (t *turn) MarshalJSON() ([]byte, error) { return json.Marshal([2]int{int(t.gen), t.id}) }

// UnmarshalJSON reads what MarshalJSON wrote.
func (t *turn) UnmarshalJSON(b []byte) error {
	var v [2]int
	err := json.Unmarshal(b, &v)
	t.gen, t.id = Gen(v[0]), v[1]
	return err
}

// card is a small struct with a key and a generation.
type card struct {
	hue hue
	gen Gen
	id  int
}

func (c card) Key() Key         { return Key(c.hue) }
func (card) KeyNames() []string { return hue(0).KeyNames() }
func (c card) Generation() Gen  { return c.gen }
func (c card) Size() int        { return c.id % 7 }

// MarshalJSON writes key, generation and number.
func (c card) MarshalJSON() ([]byte, error) {
	return json.Marshal([3]int{int(c.hue), int(c.gen), c.id})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (c *card) UnmarshalJSON(b []byte) error {
	var v [3]int
	err := json.Unmarshal(b, &v)
	*c = card{hue(v[0]), Gen(v[1]), v[2]}
	return err
}

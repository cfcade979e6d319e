package petri

// Colours of the random nets: one of each sort.

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

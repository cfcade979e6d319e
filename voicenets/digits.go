package voicenets

import "github.com/voicegw/voicegw/petri"

// digits are those of an entry that goes on.
const digits petri.Place[*Digits] = "digits"

// digitsNet collects keys of a phone until the caller presses # or pauses. The
// entry is a turn of text; during protected input it goes to the host alone,
// and neither is seen by the model nor recorded. When protected input ends, or
// begins, an entry that is not complete is dropped.
func digitsNet(c Config) *petri.Net {
	const (
		entered  petri.Place[*Digits]    = "entered"
		entry    petri.Place[petri.Unit] = "entry_protected" // the entry began during protected input
		complete                         = "complete"
	)
	add := func(to petri.Place[*Digits], begun bool) func(*petri.Firing) {
		return func(f *petri.Firing) {
			all := Digits{Text: CallerDigit.Get(f).Text}
			if begun {
				all.Text = digits.Get(f).Text + all.Text
			}
			all.Text = all.Text[:min(len(all.Text), DigitsMax)]
			all.Last = to == entered
			to.Put(f, &all)
		}
	}
	n := &petri.Net{
		Name:  "digits",
		Ports: []petri.AnyPlace{CallerDigit, Collected, digits, CallerText, typed, held, protected, unconsented},
		Env:   []petri.Env{{Place: CallerDigit, Capacity: 4}},
		Out:   []petri.Output{{Place: Collected}},
		Caps:  caps(1, digits, entered, entry),
		Transitions: []petri.Transition{
			{Name: "end_protected_entry", In: petri.Arcs{entry}, Inhibit: petri.Arcs{protected}, Priority: 2,
				Reset: petri.Arcs{digits, entered, CallerDigit}},
			{Name: "begin_protected_entry", Read: petri.Arcs{protected}, Inhibit: petri.Arcs{entry}, Priority: 2,
				Reset: petri.Arcs{digits, entered}, Out: petri.And(entry)},
			{Name: "begin_entry", In: petri.Arcs{CallerDigit.Is(more)}, Inhibit: petri.Arcs{digits, entered},
				Out: petri.And(digits.Is(more)), Action: add(digits, false)},
			{Name: "add_digit", In: petri.Arcs{CallerDigit.Is(more), digits}, Inhibit: petri.Arcs{entered},
				Out: petri.And(digits.Is(more)), Action: add(digits, true)},
			{Name: complete + "_entry", In: petri.Arcs{CallerDigit.Is(last), digits}, Inhibit: petri.Arcs{entered},
				Out: petri.And(entered.Is(last)), Action: add(entered, true)},
			{Name: complete + "_with_one", In: petri.Arcs{CallerDigit.Is(last)}, Inhibit: petri.Arcs{digits, entered},
				Out: petri.And(entered.Is(last)), Action: add(entered, false)},
			{Name: "time_out_entry", In: petri.Arcs{digits}, Inhibit: petri.Arcs{entered}, When: petri.After(c.DigitGap),
				Out: petri.And(entered.Is(last)), Action: func(f *petri.Firing) {
					entered.Put(f, &Digits{Text: digits.Get(f).Text, Last: true})
				}},
			{Name: "give_digits_to_host", In: petri.Arcs{entered}, Read: petri.Arcs{protected},
				Out: petri.And(Collected.Passing(entered))},
			{Name: "type_digits", In: petri.Arcs{entered}, Inhibit: petri.Arcs{typed, protected, held, unconsented},
				Out: petri.And(typed), Action: func(f *petri.Firing) {
					typed.Put(f, &Typed{Text: "The caller pressed " + entered.Get(f).Text + " on the phone."})
				}},
			{Name: "drop_digits_held", In: petri.Arcs{entered}, Read: petri.Arcs{held}, Inhibit: petri.Arcs{protected}},
			{Name: "drop_digits_unconsented", In: petri.Arcs{entered}, Read: petri.Arcs{unconsented},
				Inhibit: petri.Arcs{protected, held}},
		},
	}
	return below(n, modesLayer)
}

// The keys of Digits.
const (
	more petri.Key = iota
	last
)

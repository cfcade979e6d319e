package voicenets

import "github.com/voicegw/voicegw/petri"

const (
	digits  petri.Place[*Digits] = "digits"  // those of an entry that goes on
	entered petri.Place[*Digits] = "entered" // an entry that is complete
)

// digitsNet collects keys of a phone until the caller presses # or pauses. The
// entry is a turn of text; during protected input it goes to the host alone,
// and neither is seen by the model nor recorded. When protected input ends, or
// begins, an entry that is not complete is dropped: it may be part of what is
// to be protected. Keys that are pressed on hold or without consent are dropped
// as they come; an entry that began before a hold is complete in time, and
// waits like any text.
func digitsNet(c Config) *petri.Net {
	const entry petri.Place[petri.Unit] = "entry_protected" // the entry began during protected input
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
		Ports: []petri.AnyPlace{CallerDigit, Collected, digits, entered, typed, held, protected, unconsented, TextLost},
		Env:   []petri.Env{{Place: CallerDigit}},
		Out:   []petri.Output{{Place: Collected}, {Place: TextLost}},
		Caps:  caps(1, digits, entered, entry),
		Transitions: []petri.Transition{
			{Name: "end_protected_entry", In: petri.Arcs{entry}, Inhibit: petri.Arcs{protected}, Priority: 2,
				Reset: petri.Arcs{digits}},
			{Name: "begin_protected_entry", Read: petri.Arcs{protected}, Inhibit: petri.Arcs{entry}, Priority: 2,
				Reset: petri.Arcs{digits}, Out: petri.And(entry)},
			{Name: "time_out_entry", In: petri.Arcs{digits}, When: petri.After(c.DigitGap),
				Out: petri.And(entered.Is(last)), Action: func(f *petri.Firing) {
					entered.Put(f, &Digits{Text: digits.Get(f).Text, Last: true})
				}},
			{Name: "give_digits_to_host", In: petri.Arcs{entered}, Read: petri.Arcs{protected},
				Out: petri.And(Collected.Passing(entered))},
			{Name: "type_digits", In: petri.Arcs{entered}, Inhibit: petri.Arcs{typed.AtLeast(TypedMax), protected},
				Out: petri.And(typed), Action: func(f *petri.Firing) {
					typed.Put(f, &Typed{Text: "The caller pressed " + entered.Get(f).Text + " on the phone."})
				}},
			{Name: "drop_digits_full", In: petri.Arcs{entered}, Read: petri.Arcs{typed.AtLeast(TypedMax)},
				Inhibit: petri.Arcs{protected}, Out: petri.And(TextLost), Action: func(f *petri.Firing) {
					TextLost.Put(f, &Typed{Lost: LostFull})
				}},
			{Name: "drop_digit_held", In: petri.Arcs{CallerDigit}, Read: petri.Arcs{held}, Inhibit: petri.Arcs{protected}},
			{Name: "drop_digit_unconsented", In: petri.Arcs{CallerDigit}, Read: petri.Arcs{unconsented},
				Inhibit: petri.Arcs{protected, held}},
		},
	}
	free := petri.Arcs{protected, held, unconsented}
	key := func(name string, key petri.Key, to petri.Place[*Digits], begun bool) {
		t := petri.Transition{Name: name, In: petri.Arcs{CallerDigit.Is(key)}, Out: petri.And(to.Is(key)),
			Action: add(to, begun)}
		if begun {
			t.In = append(t.In, digits)
		} else {
			t.Inhibit = petri.Arcs{digits}
		}
		open, alone := t, t
		open.Inhibit = append(append(petri.Arcs{}, t.Inhibit...), free...)
		alone.Name, alone.Read = name+"_protected", petri.Arcs{protected}
		n.Transitions = append(n.Transitions, open, alone)
	}
	key("begin_entry", more, digits, false)
	key("add_digit", more, digits, true)
	key("complete_entry", last, entered, true)
	key("complete_with_one", last, entered, false)
	return below(n, modesLayer)
}

// The keys of Digits.
const (
	more petri.Key = iota
	last
)

package voicenets

import "github.com/voicegw/voicegw/petri"

const (
	Entry         petri.Place[*Digits] = "entry"          // digits of an entry that is not complete
	EntryComplete petri.Place[*Digits] = "entry_complete" // the digits of a complete entry

	// EntryProtected is marked once an entry began during protected input. It is a private place.
	EntryProtected petri.Place[petri.Unit] = "entry_protected"
)

// digitsNet collects the keys of a phone until the caller presses # or pauses. The entry becomes a
// turn of text. During protected input it goes to the host only: the model does not get it, and it
// is not recorded. When protected input begins or ends, the net drops an incomplete entry, because
// it may be part of the protected input. It drops keys on arrival during a hold or without consent.
// An entry that began before a hold completes after DigitGap and waits like any text.
func digitsNet(c Config) *petri.Net {
	add := func(to petri.Place[*Digits], begun bool) func(*petri.Firing) {
		return func(f *petri.Firing) {
			all := Digits{Text: CallerDigit.Get(f).Text}
			if begun {
				all.Text = Entry.Get(f).Text + all.Text
			}
			all.Text = all.Text[:min(len(all.Text), DigitsMax)]
			all.Last = to == EntryComplete
			to.Put(f, &all)
		}
	}
	n := &petri.Net{
		Name: "digits",
		Ports: []petri.AnyPlace{CallerDigit, Collected, Entry, EntryComplete, PendingText, Held, Protected, Unconsented,
			TextLost},
		Env:  []petri.Env{{Place: CallerDigit}},
		Out:  []petri.Output{{Place: Collected}, {Place: TextLost}},
		Caps: caps(1, Entry, EntryComplete, EntryProtected),
		Transitions: []petri.Transition{
			{Name: "end_protected_entry", In: petri.Arcs{EntryProtected}, Inhibit: petri.Arcs{Protected}, Priority: 2,
				Reset: petri.Arcs{Entry}},
			{Name: "begin_protected_entry", Read: petri.Arcs{Protected}, Inhibit: petri.Arcs{EntryProtected}, Priority: 2,
				Reset: petri.Arcs{Entry}, Out: petri.And(EntryProtected)},
			{Name: "time_out_entry", In: petri.Arcs{Entry}, When: petri.After(c.DigitGap),
				Out: petri.And(EntryComplete.Is(last)), Action: func(f *petri.Firing) {
					EntryComplete.Put(f, &Digits{Text: Entry.Get(f).Text, Last: true})
				}},
			{Name: "give_digits_to_host", In: petri.Arcs{EntryComplete}, Read: petri.Arcs{Protected},
				Out: petri.And(Collected.Passing(EntryComplete))},
			{Name: "type_digits", In: petri.Arcs{EntryComplete}, Inhibit: petri.Arcs{PendingText.AtLeast(TypedMax),
				Protected},
				Out: petri.And(PendingText), Action: func(f *petri.Firing) {
					PendingText.Put(f, &Typed{Text: "The caller pressed " + EntryComplete.Get(f).Text + " on the phone."})
				}},
			{Name: "drop_digits_full", In: petri.Arcs{EntryComplete}, Read: petri.Arcs{PendingText.AtLeast(TypedMax)},
				Inhibit: petri.Arcs{Protected}, Out: petri.And(TextLost), Action: func(f *petri.Firing) {
					TextLost.Put(f, &Typed{Lost: LostFull})
				}},
			{Name: "drop_digit_held", In: petri.Arcs{CallerDigit}, Read: petri.Arcs{Held}, Inhibit: petri.Arcs{Protected}},
			{Name: "drop_digit_unconsented", In: petri.Arcs{CallerDigit}, Read: petri.Arcs{Unconsented},
				Inhibit: petri.Arcs{Protected, Held}},
		},
	}
	free := petri.Arcs{Protected, Held, Unconsented}
	key := func(name string, key petri.Key, to petri.Place[*Digits], begun bool) {
		t := petri.Transition{Name: name, In: petri.Arcs{CallerDigit.Is(key)}, Out: petri.And(to.Is(key)),
			Action: add(to, begun)}
		if begun {
			t.In = append(t.In, Entry)
		} else {
			t.Inhibit = petri.Arcs{Entry}
		}
		open, alone := t, t
		open.Inhibit = append(append(petri.Arcs{}, t.Inhibit...), free...)
		alone.Name, alone.Read = name+"_protected", petri.Arcs{Protected}
		n.Transitions = append(n.Transitions, open, alone)
	}
	key("begin_entry", more, Entry, false)
	key("add_digit", more, Entry, true)
	key("complete_entry", last, EntryComplete, true)
	key("complete_with_one", last, EntryComplete, false)
	return below(n, modesLayer)
}

// The keys of Digits.
const (
	more petri.Key = iota
	last
)

package witness

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/voicegw/voicegw/petri"
)

// kind is what a net distinguishes in a token: its key and its generation.
type kind struct {
	key petri.Key
	gen petri.Gen
	// keyed and aged report whether the place distinguishes keys and generations.
	keyed, aged bool
	name        string // of the key
}

// text finds the text of a script for a token of slot i of a place: the name of its key, nothing,
// or a JSON object with one field for each thing that the place distinguishes.
func (r *recording) text(p *petri.PlaceInfo, i int, at time.Duration) (string, error) {
	slot, k := p.SlotName(i), kind{aged: p.Gen, keyed: p.Keys != nil}
	if p.Gen {
		r.advance(at) // timers until then may begin a new generation
		if k.gen = r.machine.Gen(); i%2 == 1 {
			k.gen-- // any other is stale
		}
		i /= 2
	}
	if k.keyed {
		k.key, k.name = petri.Key(i), p.Keys[i]
	}
	for _, text := range append([]string{k.name, ""}, r.objects(p.Name, k)...) {
		if tok, err := r.open.ParseToken(p.Name, text); err == nil && k.is(tok) {
			return text, nil
		}
	}
	return "", fmt.Errorf("no text says %s", slot)
}

// is reports whether the token is of the kind.
func (k kind) is(tok petri.Token) bool {
	if v, ok := tok.Value().(petri.HasKey); k.keyed && (!ok || v.Key() != k.key) {
		return false
	}
	v, ok := tok.Value().(petri.Generational)
	return !k.aged || ok && v.Generation() == k.gen
}

// objects are JSON objects that may be a token of the kind: the fields of the zero value, with one
// or two of them set.
func (r *recording) objects(place string, k kind) []string {
	tok, err := r.open.ParseToken(place, "")
	if err != nil {
		return nil
	}
	zero, err := json.Marshal(tok.Value())
	fields := map[string]any{}
	if err != nil || json.Unmarshal(zero, &fields) != nil {
		return nil
	}
	names := slices.Sorted(maps.Keys(fields))
	ages, keys := []string{""}, []string{""}
	for _, f := range names {
		label, _ := json.Marshal(f)
		word, _ := json.Marshal(k.name)
		if k.aged {
			ages = append(ages, fmt.Sprintf("%s:%d", label, k.gen))
		}
		if k.keyed {
			keys = append(keys, fmt.Sprintf("%s:%s", label, word), fmt.Sprintf("%s:%d", label, k.key),
				fmt.Sprintf("%s:%t", label, k.key > 0))
		}
	}
	var out []string
	for _, a := range ages {
		for _, b := range keys {
			out = append(out, "{"+strings.Trim(a+","+b, ",")+"}")
		}
	}
	return out
}

// plainWord reports whether a text can be used unquoted on the line of a step.
func plainWord(s string) bool {
	for _, c := range s {
		if c != '_' && c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return s != ""
}

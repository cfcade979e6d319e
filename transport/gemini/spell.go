package gemini

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/voicegw/voicegw/internal/jsonscan"
)

// speller rewrites a message so that its fields have the names of a shape: clients write
// lowerCamelCase, snake_case, or both in one message. It drops fields that are null, and notes and
// drops those without effect and those that are unknown.
type speller struct {
	src    jsonscan.Scanner
	broken bool // src is not valid JSON
	dst    []byte
	path   []string // of the object that is read
	notes  *notes
	twice  string // the path of a field that came twice in one object
}

// spell returns a message in the names of s. It returns an error, which quotes nothing of the
// message, if b is not one JSON object, or if a field comes twice in one object.
func spell(b []byte, s *shape, n *notes) ([]byte, error) {
	if err := json.Unmarshal(b, &struct{}{}); err != nil {
		return nil, badJSON(err)
	}
	sp := speller{src: jsonscan.New(b), dst: make([]byte, 0, len(b)), notes: n}
	if sp.value(s); sp.broken {
		return nil, refused("A message is not valid JSON.")
	}
	if sp.twice != "" {
		return nil, refused("A message is not valid: field %q came twice.", sp.twice)
	}
	return sp.dst, nil
}

// value copies the next value.
func (sp *speller) value(s *shape) {
	switch c := sp.src.Peek(); {
	case s != nil && c == '{':
		sp.object(s)
	case s != nil && c == '[':
		sp.array(s)
	default:
		sp.dst = append(sp.dst, sp.skip()...)
	}
}

func (sp *speller) array(s *shape) {
	sp.dst = append(sp.dst, '[')
	for sp.src.Skip('['); sp.more(']'); sp.src.Skip(',') {
		sp.separate()
		sp.value(s)
	}
	sp.src.Skip(']')
	sp.dst = append(sp.dst, ']')
}

func (sp *speller) object(s *shape) {
	sp.dst = append(sp.dst, '{')
	var seen uint64 // the indices of the fields that came
	for sp.src.Skip('{'); sp.more('}'); sp.src.Skip(',') {
		quoted := sp.skip()
		sp.src.Skip(':')
		sp.member(s, quoted, &seen)
	}
	sp.src.Skip('}')
	sp.dst = append(sp.dst, '}')
}

// member copies a field of an object, or drops it.
func (sp *speller) member(s *shape, quoted []byte, seen *uint64) {
	name := string(jsonscan.Unquote(quoted))
	f, null := s.fields[name], sp.src.Peek() == 'n' // which is the same as no field
	switch {
	case s.keyed != nil:
		sp.put("*", quoted, s.keyed)
	case f == nil && s.open:
		sp.put(name, quoted, nil)
	case null:
		sp.skip()
	case f == nil:
		sp.skip()
		sp.notes.add(sp.pathOf(plainName(name)), "this gateway does not know the field; it has no effect")
	case f.none != "":
		if !bytes.Equal(sp.skip(), []byte("false")) {
			sp.notes.add(sp.pathOf(f.name), "the field has no effect: "+f.none)
		}
	case *seen>>f.index&1 != 0:
		sp.skip()
		sp.twice = sp.pathOf(f.name)
	default:
		*seen |= 1 << f.index
		sp.put(f.name, []byte(`"`+f.name+`"`), f.shape)
	}
}

// put copies the next value under a name.
func (sp *speller) put(name string, quoted []byte, s *shape) {
	sp.separate()
	sp.dst = append(append(sp.dst, quoted...), ':')
	sp.path = append(sp.path, name)
	sp.value(s)
	sp.path = sp.path[:len(sp.path)-1]
}

func (sp *speller) pathOf(name string) string { return strings.Join(append(sp.path, name), ".") }

// separate puts a comma after what stands before in the same object or array.
func (sp *speller) separate() {
	if last := sp.dst[len(sp.dst)-1]; last != '{' && last != '[' {
		sp.dst = append(sp.dst, ',')
	}
}

// more reports whether something comes before the end of the object or array that closing ends.
func (sp *speller) more(closing byte) bool { return !sp.broken && sp.src.Peek() != closing }

// skip returns the next value and passes over it.
func (sp *speller) skip() []byte {
	value, ok := sp.src.Value()
	sp.broken = sp.broken || !ok
	return value
}

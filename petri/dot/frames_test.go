package dot_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/dot"
)

func TestWriteFrames(t *testing.T) {
	const a, b = petri.Place[petri.Unit]("a"), petri.Place[petri.Unit]("b")
	p, err := petri.Compile(&petri.Net{Name: "net", Imported: true, Init: []petri.Token{a.Token(petri.Unit{})},
		Transitions: []petri.Transition{{Name: "t", In: petri.Arcs{a}, Out: petri.And(b)}}})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "new", "film")
	frames := []dot.Frame{{Title: "start", Marking: []int32{1, 0}}, {Title: "t & more", Marking: []int32{0, 1}}}
	if err := dot.WriteFrames(dir, p, frames); err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"frame-000.svg", "frame-001.svg"} {
		got, err := os.ReadFile(filepath.Join(dir, name))
		want, _ := dot.SVG(p, dot.Options{Title: frames[i].Title, Marking: frames[i].Marking})
		if err != nil || string(got) != string(want) {
			t.Errorf("%s: %v\n%s", name, err, got)
		}
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		dir, says string
		frames    []dot.Frame
	}{
		{dir, "already contains frames", frames},
		{t.TempDir(), "at most 1000", make([]dot.Frame, 1001)},
		{t.TempDir(), "frame 0", []dot.Frame{{Marking: []int32{1}}}},
		{file, "write frames", frames},
	} {
		if err := dot.WriteFrames(test.dir, p, test.frames); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v", test.says, err)
		}
	}
}

package workflow

import (
	"os"
	"testing"
)

func TestFirst(t *testing.T) {
	b, _ := os.ReadFile("testdata/good/example.yaml")
	w, fs := Load("example.yaml", b, Registry{})
	for _, f := range fs {
		t.Log(f)
	}
	if w == nil {
		t.Fatal()
	}
	c, fs := Compile(w)
	for _, f := range fs {
		t.Log(f)
	}
	if c == nil {
		t.Fatal()
	}
	t.Log(len(c.prog.Places()), len(c.prog.Transitions()))
	for _, tr := range c.prog.Transitions() {
		t.Log(tr.Name)
	}
}

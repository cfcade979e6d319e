package voicenets

import (
	"testing"

	"github.com/voicegw/voicegw/petri"
)

func TestCompile(t *testing.T) {
	for _, c := range []Config{{}, {Greeting: true}, {Detection: Server}, {HalfDuplex: true}, {Detection: Server, HalfDuplex: true, Greeting: true}} {
		n, err := Session(c)
		if err != nil {
			t.Error(err)
			continue
		}
		p, err := petri.Compile(n)
		if err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		t.Log(len(p.Transitions()), len(p.Places()), p.Slots())
	}
}

func TestClose(t *testing.T) {
	for _, c := range []Config{{}, {Greeting: true}, {Detection: Server}, {HalfDuplex: true}} {
		for _, f := range []func(Config) (*petri.Net, error){Hostile, Contract} {
			n, err := f(c)
			if err != nil {
				t.Error(err)
				continue
			}
			p, err := petri.Compile(n)
			if err != nil {
				t.Errorf("%+v: %v", c, err)
				continue
			}
			t.Log(n.Name, len(p.Transitions()), len(p.Places()), p.Slots(), p.Notes())
		}
	}
}

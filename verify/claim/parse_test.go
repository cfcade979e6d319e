package claim

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw/verify/netmodel"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]Claim{
		"deadlock-free":           DeadlockFree{},
		"bound p <= 3":            Never{Expr: `"p" > 3`},
		`bound "a b" <= 0`:        Never{Expr: `"a b" > 0`},
		" never a && b ":          Never{Expr: "a && b"},
		"reach a >= 2":            Reach{Expr: "a >= 2"},
		`mutex a "b c"`:           Never{Expr: `"a" >= 1 && "b c" >= 1`},
		"fires":                   Fires{},
		"fires t u":               Fires{Transitions: []string{"t", "u"}},
		`a leads to "x leads to"`: LeadsTo{First: "a", Then: `"x leads to"`},
		"within 2s from start t to u +p": Watch{Observer: netmodel.Observer{Name: "elapsed", Start: []string{"start", "t"},
			Stop: []string{"u", "+p"}, Limit: 2*time.Second + 1}},
	} {
		if have, err := Parse(text); err != nil || !reflect.DeepEqual(have, want) {
			t.Errorf("%s: %#v, %v; want %#v", text, have, err, want)
		}
	}
	for text, want := range map[string]string{
		"": "want one of: deadlock-free;", "always a": "want one of", "deadlock-free now": "takes nothing",
		"bound p < 3": "want bound PLACE <= N", "bound p <= many": "whole number", "bound <= 3": "whole number",
		"never": "expected", "never a &&": "expected", "reach (a": "expected", "mutex a": "at least two places",
		`mutex "a b`: "not closed", `fires "" t`: "empty", "a leads to": "want one of", "a leads to b &&": "expected",
		"(a leads to b": "expected", "within 2s": "want within", "within 2s from a to": "want within",
		"within 2s from to b": "want within", "within 0s from a to b": "no time above 0",
		"within soon from a to b": "no time",
	} {
		if c, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %#v, %v; want %q", text, c, err, want)
		}
	}
}

// FuzzParse: what is read says something, and a claim that a certificate carries reads back as itself.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"deadlock-free", "bound p <= 3", "never a && !b", "reach 2*a > 3", "mutex a b c",
		"fires t",
		"a leads to b", `within 2s from t to "u v"`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Parse(text)
		if err != nil {
			return
		}
		if c == nil {
			t.Fatal("nothing, and no error")
		}
		if never, ok := c.(Never); ok {
			if again, err := Parse(never.Text()); err != nil || again != c {
				t.Errorf("%q reads back as %#v, %v", never.Text(), again, err)
			}
		}
	})
}

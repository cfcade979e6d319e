package expr_test

import (
	"strings"
	"testing"

	"github.com/voicegw/voicegw/verify/expr"
)

func TestExprErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "column 1"}, {"A >=", "a place or a number expected"}, {"(A", `")" expected`}, {"A ? B",
			`unexpected character '?'`},
		{"3", "comparison expected"}, {`"A`, "quote is not closed"}, {"A B", `unexpected "B"`}, {"can(",
			"name of a transition"},
		{strings.Repeat("(", 300) + "A", "more than 200 levels"}, {strings.Repeat("!", 300) + "A", "more than 200 levels"},
		{strings.Repeat("A||", 40000) + "A", "longer than"}, {"3*4 > 1", "name of a place expected"}, {"A \xff",
			"unexpected"},
		{"A >= -1", "numbers have no sign"}, {"-1*A >= 1", "numbers have no sign"},
		{"1000000000000000000 <= A", "at most 18 digits"}, {"9223372036854775808*A >= 1", "at most 18 digits"},
		{"999999999999999999" + strings.Repeat(" + 999999999999999999", 9) + " >= A", "numbers of a sum exceed"},
	} {
		if _, err := expr.Parse(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.20q: %v; want an error with %q", c.text, err, c.want)
		}
	}
}

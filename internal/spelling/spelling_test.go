package spelling

import (
	"slices"
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	t.Parallel()
	names := []string{"listen", "language", "voice", "timing.frame_gap"}
	for wrong, want := range map[string]string{
		"listen": "listen", "LISTEN": "listen", "lisetn": "listen", "listn": "listen", "lang": "", "languages": "language",
		"vioce": "voice", "timing.framegap": "timing.frame_gap", "x": "", "": "",
		strings.Repeat("voice", 1000): "", // a third of its letters are more than any name has
	} {
		if got := Nearest(wrong, names); got != want {
			t.Errorf("nearest to %q is %q; want %q", wrong, got, want)
		}
	}
}

func TestClosest(t *testing.T) {
	t.Parallel()
	names := []string{"sales/open", "sales/closed", "bell", "Clear"}
	for _, c := range []struct {
		wrong string
		n     int
		want  []string
	}{
		{"sales/closd", 1, []string{"sales/closed"}},
		{"closd", 2, []string{"sales/closed", "Clear"}},
		{"cloesd", 1, []string{"sales/closed"}},
		{"BELL", 9, []string{"bell", "sales/open", "Clear", "sales/closed"}},
		{"", 2, []string{"sales/open", "bell"}},
		{"open", 0, nil},
		{strings.Repeat("x", lenMax) + "bell", 1, []string{"sales/open"}},
	} {
		if got := Closest(c.wrong, names, c.n); !slices.Equal(got, c.want) {
			t.Errorf("the %d closest to %q are %q; want %q", c.n, c.wrong, got, c.want)
		}
	}
	if got := Closest("x", nil, 1); len(got) != 0 {
		t.Errorf("of no names %q are close", got)
	}
}

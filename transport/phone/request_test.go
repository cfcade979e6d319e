package phone

import (
	"net/http/httptest"
	"testing"
)

func TestSameSecret(t *testing.T) {
	for _, tt := range []struct {
		given, secret string
		want          bool
	}{
		{"", "", false}, {"a", "", false}, {"", "a", false}, {"a", "a", true}, {"a", "b", false}, {"a", "aa", false},
	} {
		if got := SameSecret(tt.given, tt.secret); got != tt.want {
			t.Errorf("%q for %q: %v", tt.given, tt.secret, got)
		}
	}
}

func TestCut(t *testing.T) {
	for _, tt := range []struct {
		s    string
		max  int
		want string
	}{
		{"", 3, ""}, {"abc", 3, "abc"}, {"abcd", 3, "abc"}, {"aé", 2, "a"}, {"é", 1, ""}, {"a\xffb", 9, "a?b"},
	} {
		if got := Cut(tt.s, tt.max); got != tt.want {
			t.Errorf("%q cut to %d is %q, want %q", tt.s, tt.max, got, tt.want)
		}
	}
}

func TestOnLoopbackFailsClosed(t *testing.T) {
	if OnLoopback(httptest.NewRequest("GET", "/", nil)) {
		t.Error("a request of which nobody knows where it came in")
	}
}

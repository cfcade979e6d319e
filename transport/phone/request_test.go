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

func TestOnLoopbackFailsClosed(t *testing.T) {
	if OnLoopback(httptest.NewRequest("GET", "/", nil)) {
		t.Error("a request of which nobody knows where it came in")
	}
}

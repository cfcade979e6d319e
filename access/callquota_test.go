package access

import (
	"errors"
	"testing"
	"time"

	"github.com/voicegw/voicegw/transport"
)

// TestQuota: a quota counts calls and beginnings, keeps the calls that run when its limits change, and refuses limits
// that are out of range.
func TestQuota(t *testing.T) {
	t.Parallel()
	now := time.Unix(1e9, 0)
	q, err := NewQuota("rule few", Limits{Calls: 2, CallsPerMinute: 3})
	if err != nil {
		t.Fatal(err)
	}
	take := func(ok bool) {
		t.Helper()
		err := q.Take(now)
		var refused *transport.Refused
		if ok && err != nil || !ok && (!errors.As(err, &refused) || refused.RetryAfter < time.Second) {
			t.Errorf("a call: %v", err)
		}
	}
	take(true)
	take(true)
	take(false) // two run
	q.GiveBack()
	take(true)
	q.GiveBack()
	take(false) // three have begun
	now = now.Add(21 * time.Second)
	take(true)
	commit, err := q.PrepareLimits(Limits{Calls: 2})
	if err != nil {
		t.Fatal(err)
	}
	commit()
	take(false) // two run still
	q.GiveBack()
	take(true)
	for _, l := range []Limits{{Calls: -1}, {CallsPerMinute: 6001}, {BytesPerMinute: 600}} {
		if _, err := NewQuota("rule few", l); err == nil {
			t.Errorf("%+v is accepted", l)
		}
		if _, err := q.PrepareLimits(l); err == nil {
			t.Errorf("%+v is accepted later", l)
		}
	}
}

// TestShorten: the shorter of a token's longest call and another one counts.
func TestShorten(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]time.Duration{{0, 5, 5}, {9, 5, 5}, {5, 9, 5}, {5, 0, 5}} {
		g := &Grant{CallMax: c[0]}
		if g.Shorten(c[1]); g.CallMax != c[2] {
			t.Errorf("%d and %d make %d", c[0], c[1], g.CallMax)
		}
	}
}

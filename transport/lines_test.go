package transport

import (
	"context"
	"errors"
	"testing"
)

func TestNetwork(t *testing.T) {
	for remote, want := range map[string]string{
		"192.0.2.1":                "192.0.2.1",
		"::ffff:192.0.2.1":         "192.0.2.1",
		"2001:db8:1:2::1":          "2001:db8:1:2::/64",
		"2001:db8:1:2:ffff::%eth0": "2001:db8:1:2::/64",
		"":                         "",
		"pipe":                     "pipe",
	} {
		if got := Network(remote); got != want {
			t.Errorf("%q counts as %q, want %q", remote, got, want)
		}
	}
}

// TestGivenUp: the cause of a handshake's end is what the far end is told.
func TestGivenUp(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(&Refused{Reason: ReasonBusy, Message: "Too many."})
	if e := GivenUp(ctx); e.Reason != ReasonBusy || e.Message != "Too many." {
		t.Errorf("%+v", e)
	}
	for _, cause := range []error{nil, errors.New("x")} {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(cause)
		if e := GivenUp(ctx); e.Reason != ReasonGoingAway || e.Message == "" || e.Err == nil {
			t.Errorf("%v: %+v", cause, e)
		}
	}
}

package transport

import (
	"errors"
	"fmt"
	"testing"
)

func TestReasonsAreComplete(t *testing.T) {
	seen := map[string]Reason{}
	for r := ReasonNone + 1; r < reasonCount; r++ {
		if r.String() == "" || r.Message() == ReasonNone.Message() {
			t.Errorf("reason %d has no line in the table", r)
		}
		if other, ok := seen[r.String()]; ok {
			t.Errorf("reasons %d and %d are both %q", other, r, r)
		}
		seen[r.String()] = r
		if got, ok := ParseReason(r.String()); !ok || got != r {
			t.Errorf("ParseReason(%q) = %v, %v", r.String(), got, ok)
		}
		if c := r.Code(); (c < 1000 || c > 1013) && (c < 4000 || c > 4009) {
			t.Errorf("%s: close code %d is outside the table", r, c)
		}
		if c := r.StandardCode(); c < 1000 || c > 1013 || r.Code() < 4000 && c != r.Code() && r != ReasonNone {
			t.Errorf("%s: close code %d is not of RFC 6455, or not the one of voicegw.v1 there", r, c)
		}
		if s := r.Status(); s < 400 || s > 599 {
			t.Errorf("%s: HTTP status %d refuses nothing", r, s)
		}
		if len(r.Message()) > 123 {
			t.Errorf("%s: the message does not fit into a close frame", r)
		}
	}
	if _, ok := ParseReason("no_such_reason"); ok {
		t.Error("an unknown name was parsed")
	}
	if _, ok := ParseReason(""); ok {
		t.Error("the empty name was parsed")
	}
}

func TestReasonOf(t *testing.T) {
	tests := []struct {
		err  error
		want Reason
	}{
		{nil, ReasonNone},
		{errors.New("x"), ReasonPeerLost},
		{fmt.Errorf("send: %w", ErrStalled), ReasonPeerStalled},
		{fmt.Errorf("recv: %w", &Ended{Reason: ReasonBadAudio}), ReasonBadAudio},
	}
	for _, tt := range tests {
		if got := ReasonOf(tt.err); got != tt.want {
			t.Errorf("ReasonOf(%v) = %v, want %v", tt.err, got, tt.want)
		}
	}
	if !errors.Is(&Ended{Reason: ReasonPeerStalled}, ErrStalled) || errors.Is(&Ended{Reason: ReasonDone}, ErrStalled) {
		t.Error("only a stalled end is ErrStalled")
	}
}

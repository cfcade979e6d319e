package admission

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"

	"github.com/voicegw/voicegw/transport"
)

// lines are lines that note what is taken and released.
type lines struct {
	full     error
	giveUp   func(cause error)
	released int
}

func (l *lines) Take(h transport.Handshake) (transport.Line, error) {
	l.giveUp = h.GiveUp
	if l.full != nil {
		return nil, l.full
	}
	return oneLine{lines: l}, nil
}

type oneLine struct {
	transport.Line
	lines *lines
}

func (l oneLine) Release() { l.lines.released++ }

func request(t *testing.T) (r *http.Request, leave func()) {
	ctx, leave := context.WithCancel(t.Context())
	return httptest.NewRequest(http.MethodGet, "/", nil).WithContext(ctx), leave
}

// TestVisitsClose: Close ends the visits that have begun, waits for them, and lets none begin.
func TestVisitsClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var v Visits
		r, leave := request(t)
		defer leave()
		handshake, call, line, err := v.Begin(r, &lines{}, false)
		if err != nil {
			t.Fatal(err)
		}
		_, _, other, err := v.Begin(r, &lines{}, false)
		if err != nil {
			t.Fatal(err)
		}
		other.Release()
		closed := make(chan struct{})
		go func() { v.Close(); close(closed) }()
		<-call.Done()
		<-handshake.Done()
		synctest.Wait()
		select {
		case <-closed:
			t.Error("it did not wait")
		default:
		}
		var refused *transport.Refused
		if _, _, _, err := v.Begin(r, &lines{}, false); !errors.As(err, &refused) ||
			refused.Reason != transport.ReasonGoingAway {
			t.Errorf("a visit to a closed endpoint: %v", err)
		}
		line.Release()
		line.Release()
		<-closed
		v.Close()
	})
}

// TestVisitsHandshake: the gateway and the client can give a handshake up; the call goes on.
func TestVisitsHandshake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var v Visits
		var l lines
		r, leave := request(t)
		handshake, call, line, err := v.Begin(r, &l, true)
		if err != nil {
			t.Fatal(err)
		}
		cause := &transport.Refused{Reason: transport.ReasonBusy}
		l.giveUp(cause)
		if e := transport.GivenUp(handshake); e.Reason != transport.ReasonBusy || call.Err() != nil {
			t.Errorf("given up: %v, the call %v", e, call.Err())
		}
		line.Release()
		line.Release()
		if l.released != 1 || call.Err() == nil {
			t.Errorf("released %d times, the call %v", l.released, call.Err())
		}
		handshake, call, line, err = v.Begin(r, &l, false)
		if err != nil {
			t.Fatal(err)
		}
		defer line.Release()
		leave()
		synctest.Wait()
		if handshake.Err() == nil || call.Err() != nil {
			t.Errorf("the client left: handshake %v, call %v", handshake.Err(), call.Err())
		}
	})
}

// TestVisitsWithoutALine: a visit that gets no line is over at once.
func TestVisitsWithoutALine(t *testing.T) {
	var v Visits
	r, leave := request(t)
	defer leave()
	full := &transport.Refused{Reason: transport.ReasonBusy}
	if _, _, _, err := v.Begin(r, &lines{full: full}, false); !errors.Is(err, full) {
		t.Errorf("%v", err)
	}
	v.Close()
}

// TestYield gives back the line of a visit at once, and the visit goes on until its release.
func TestYield(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var v Visits
		taken := &lines{}
		r, leave := request(t)
		defer leave()
		_, call, line, err := v.Begin(r, taken, false)
		if err != nil {
			t.Fatal(err)
		}
		Yield(line)
		if taken.released != 1 || call.Err() != nil {
			t.Errorf("%d lines are given back, and the visit is over: %v", taken.released, call.Err())
		}
		closed := make(chan struct{})
		go func() { v.Close(); close(closed) }()
		synctest.Wait()
		select {
		case <-closed:
			t.Error("Close does not wait for the visit")
		default:
		}
		line.Release()
		<-closed
	})
}

// TestResuming: a handshake without a line begins no call, and says what refused it.
func TestResuming(t *testing.T) {
	full := &transport.Refused{Reason: transport.ReasonBusy}
	var pushedOut error
	l := Resuming{Backlog: NewBacklog(1, 1), Refused: full}
	line, err := l.Take(transport.Handshake{GiveUp: func(cause error) { pushedOut = cause }})
	if err != nil || !errors.Is(line.Check(t.Context(), &transport.Hello{}), full) {
		t.Errorf("taken with %v", err)
	}
	next, err := l.Take(transport.Handshake{})
	if err != nil || pushedOut == nil {
		t.Errorf("the oldest was pushed out with %v, %v", pushedOut, err)
	}
	line.Release()
	next.Release()
}

package httpdoor

import (
	"context"
	"testing"
	"testing/synctest"
)

// TestVisits: Close cancels those that are there, waits for them, and lets nobody in any more.
func TestVisits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var v Visits
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		leave, ok := v.Enter(cancel)
		if !ok {
			t.Fatal("it is closed")
		}
		other, ok := v.Enter(func() { t.Error("who has left is cancelled") })
		if !ok {
			t.Fatal("it is closed")
		}
		other()
		closed := make(chan struct{})
		go func() { v.Close(); close(closed) }()
		<-ctx.Done()
		synctest.Wait()
		select {
		case <-closed:
			t.Error("it did not wait")
		default:
		}
		if _, ok := v.Enter(cancel); ok {
			t.Error("a visit after the end")
		}
		leave()
		<-closed
		v.Close()
	})
}

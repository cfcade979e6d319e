package runner

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/voicegw/voicegw/petri"
)

// TestSpares checks that a run on the machine of a run before does what a run on a new one does, whatever the
// run before has left behind, and that the machine of a run that broke is not used again.
func TestSpares(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var spares Spares
		prog := compile(t, desk(t, "a", "b"))
		run := func(s *Spares, owner string) string {
			var w world
			fn := func(ctx context.Context, who string, n int) (string, error) {
				if n == 2 { // the run ends before
					<-ctx.Done()
				}
				return who, nil
			}
			r, err := Start(prog, Config{Out: w.Out, Store: &w, Tasks: []Handler{HandleFor(lookup(), fn)}, Owner: owner,
				Spares: s})
			if err != nil {
				t.Fatal(err)
			}
			for n := range 5 {
				mustInject(t, r, query.Token(n))
				synctest.Wait()
			}
			time.Sleep(time.Second)
			mustClose(t, r)
			for _, n := range r.Marking() {
				if s != nil && n > 0 {
					t.Error("a run that is over shows the tokens of another")
				}
			}
			if res, _ := reply.From(w.tokens[0]); res.Value != owner {
				t.Errorf("the handler of %q answered %q", owner, res.Value)
			}
			return w.trace(prog)
		}
		want := run(nil, "alone")
		for range 3 {
			if got := run(&spares, "first"); got != want {
				t.Errorf("events\n%swant\n%s", got, want)
			}
		}
		for spares.take() != nil { // the race detector makes the pool lose some
		}
		broken, err := Start(prog, Config{Out: func(petri.Token) { panic("out") }, Tasks: []Handler{HandleFor(lookup(),
			func(context.Context, string, int) (string, error) { return "", nil })}, Spares: &spares})
		if err != nil {
			t.Fatal(err)
		}
		mustInject(t, broken, query.Token(1))
		<-broken.Done()
		if broken.Err() == nil || spares.take() != nil {
			t.Errorf("the run ended with %v, and left its machine", broken.Err())
		}
	})
}

// TestHandleAsync checks that the loop goes on while something else does the work of a task.
func TestHandleAsync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w world
		type order struct {
			n    int
			done func(string, error)
		}
		orders := make(chan order, 4)
		r := mustStart(t, desk(t, "a", "b"), Config{Out: w.Out, Owner: orders, Tasks: []Handler{HandleAsync(lookup(),
			func(to chan order, n int, done func(string, error)) func() (string, error) {
				to <- order{n, done}
				return nil
			})}})
		mustInject(t, r, query.Token(1))
		mustInject(t, r, query.Token(2))
		first, second := <-orders, <-orders
		second.done("two", nil)
		first.done("", errors.New("no such row"))
		synctest.Wait()
		var got []petri.Result[string]
		for _, token := range w.tokens {
			res, _ := reply.From(token)
			got = append(got, res)
		}
		if len(got) != 2 || got[0].Value != "two" || got[1].Outcome != petri.Failed || got[1].Reason != "no such row" {
			t.Errorf("%+v", got)
		}
		mustClose(t, r)
	})
}

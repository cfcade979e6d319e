package agent

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/voicegw/voicegw/agent/provider"
	"github.com/voicegw/voicegw/petri/netview"
)

// TestWatch follows the net of a session through a turn.
func TestWatch(t *testing.T) {
	k := play(t, Limits{}, []provider.ScriptTurn{{Text: "Soup."}})
	v, stop, err := k.s.Watch()
	if err != nil {
		t.Fatal(err)
	}
	look := func() (u netview.Update, marked []string) {
		<-v.Changed()
		v.Read(&u)
		for _, c := range u.Marking {
			marked = append(marked, c.Place)
		}
		return u, marked
	}
	if u, marked := look(); len(u.Fired) > 0 || !slices.Contains(marked, "quiet") {
		t.Errorf("before the turn: %v", u)
	}
	if _, err := k.say(t.Context(), "What is there?"); err != nil {
		t.Fatal(err)
	}
	u, marked := look()
	if !slices.Contains(u.Fired, "turns/begin_host") ||
		!slices.Contains(marked, "quiet") {
		t.Errorf("after the turn: %+v", u)
	}
	b, err := json.Marshal(u)
	var seen struct {
		At      *int64         `json:"at_ms"`
		Fired   []string       `json:"fired"`
		Marking map[string]int `json:"marking"`
	}
	if err != nil || json.Unmarshal(b, &seen) != nil || seen.At == nil || len(seen.Fired) != len(u.Fired) ||
		seen.Marking["quiet"] != 1 {
		t.Errorf("%v: %s", err, b)
	}
	stop()
	_, _ = k.say(t.Context(), "And else?")
	select {
	case <-v.Changed():
		t.Error("a view that was stopped goes on")
	default:
	}
	k.close()
}

// TestWatchersMax refuses a view too many, and takes one when another is gone.
func TestWatchersMax(t *testing.T) {
	k := play(t, Limits{}, []provider.ScriptTurn{{Text: "Soup."}})
	var stops []func()
	for range WatchersMax {
		_, stop, err := k.s.Watch()
		if err != nil {
			t.Fatal(err)
		}
		stops = append(stops, stop)
	}
	if _, _, err := k.s.Watch(); !errors.Is(err, ErrWatched) {
		t.Errorf("%v", err)
	}
	stops[3]()
	_, stop, err := k.s.Watch()
	if err != nil {
		t.Fatal(err)
	}
	stop()
	k.close()
}

package voicegw

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/audio/audiotest"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/event"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/voicenets/claims"
)

// slow is a store that holds its net up now and then.
type slow struct {
	event.Store
	last time.Time
}

func (s *slow) Append(list []petri.Event) {
	if time.Since(s.last) > 90*time.Millisecond {
		time.Sleep(15 * time.Millisecond)
		s.last = time.Now()
	}
	s.Store.Append(list)
}

// TestProvedBounds holds 40 calls that run to what is proved of their time: each takes as long as
// its claim says at most, and as long as the nets were late at most.
func TestProvedBounds(t *testing.T) {
	var late atomic.Int64 // the most
	minds := switchboard{}
	cfg := Config{Dialer: minds, Lateness: func(d time.Duration) {
		for old := late.Load(); int64(d) > old && !late.CompareAndSwap(old, int64(d)); old = late.Load() {
		}
	}, Watch: func(string, *petri.Program) event.Store { return &slow{Store: event.NewRing(16)} }}
	cfg.Net.ConfirmWindow, cfg.Net.DrainWithin = 100*time.Millisecond, 2*time.Second // less than it takes to confirm
	bounds := provedBounds(t, cfg)
	took := map[string][]time.Duration{}
	synctest.Test(t, func(t *testing.T) {
		list := make([]*timed, 40)
		for i := range list {
			k := &timed{peer: newFarEnd(), model: newMind()}
			k.peer.hello.Language = fmt.Sprintf("en-%04d", i)
			k.peer.onSend, k.peer.onPlay = k.told, k.played
			minds[k.peer.hello.Language], list[i] = k.model, k
		}
		g, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for i, k := range list {
			all.Go(func() {
				time.Sleep(time.Duration(i) * 7 * time.Millisecond)
				all.Go(k.reply)
				all.Go(k.speak)
				_ = g.Call(context.Background(), k.peer)
			})
		}
		time.Sleep(2 * time.Second) // everybody speaks
		asked := time.Now()
		if err := g.Drain(context.Background()); err != nil {
			t.Error(err)
		}
		all.Wait()
		for _, k := range list {
			took["pause"] = append(took["pause"], k.pauses...)
			took["barge-in to clear"] = append(took["barge-in to clear"], k.clears...)
			took["drain"] = append(took["drain"], k.ended.Sub(asked))
		}
	})
	for name, list := range took {
		most := time.Duration(0)
		for _, d := range list {
			most = max(most, d)
		}
		t.Logf("%s: %d times, %v at most; proved: %v, late: %v", name, len(list), most, bounds[name],
			time.Duration(late.Load()))
		if len(list) < 40 {
			t.Errorf("%s happened %d times in 40 calls", name, len(list))
		}
		if bound := bounds[name] + time.Duration(late.Load()); most > bound {
			t.Errorf("%s took %v, more than %v", name, most, bound)
		}
		if half := bounds[name]/2 + time.Duration(late.Load()); bounds[name] > 0 && most <= half {
			t.Errorf("%s took %v at most: half of what is proved would hold too, so the test shows nothing", name, most)
		}
	}
}

// provedBounds are the worst cases that are proved of the session that callers get who ask for
// nothing, by name.
func provedBounds(t *testing.T, cfg Config) map[string]time.Duration {
	t.Helper()
	g, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	figures, err := claims.Figures(t.Context(), g.cfg.netOf(variant{}))
	if err != nil {
		t.Fatal(err)
	}
	bounds := map[string]time.Duration{}
	for _, f := range figures { // the claims about time of every proof of this session
		bounds[f.Name] = f.Most
	}
	return bounds
}

// timed is a call of TestProvedBounds: the model's reply does not end, and the caller speaks over
// it.
type timed struct {
	peer  *farEnd
	model *mind

	mu             sync.Mutex
	heard          int64
	paused         time.Time // zero: it is not
	pauses, clears []time.Duration
	ended          time.Time
}

// told notes how long a pause lasts, and how long after it the clear comes.
func (k *timed) told(_ *farEnd, m *transport.Message) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case m.Kind == transport.MessageTurn && m.State == transport.StatePause:
		k.paused = time.Now()
	case m.Kind == transport.MessageClear && !k.paused.IsZero():
		k.clears = append(k.clears, time.Since(k.paused))
	case m.Kind == transport.MessageTurn && !k.paused.IsZero():
		k.pauses, k.paused = append(k.pauses, time.Since(k.paused)), time.Time{}
	}
	return nil
}

func (k *timed) played(*farEnd, uint64, []int16) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.heard++
	return nil
}

// reply is a model that speaks until the call ends.
func (k *timed) reply() {
	<-k.peer.ready
	for {
		select {
		case <-k.peer.ended:
			k.ended = time.Now()
			return
		case <-time.After(audio.FrameDuration):
		}
		select {
		case k.model.down <- live.ServerMessage{Kind: live.ServerAudio, RateHz: 24000, PCM: make([]int16, 480)}:
		case <-k.model.closed:
		}
	}
}

// speak is silent for half a second, speaks, and is silent again.
func (k *timed) speak() {
	<-k.peer.ready
	rest := audiotest.Speech("over").Samples
	for n := 0; ; n++ {
		time.Sleep(audio.FrameDuration)
		pcm := make([]int16, 320)
		if n >= 25 {
			rest = rest[copy(pcm, rest):]
		}
		k.mu.Lock()
		ack := transport.Event{Kind: transport.EventAck, Generation: 1, PlayedMS: k.heard * transport.FrameMS}
		k.mu.Unlock()
		for _, ev := range []transport.Event{{Kind: transport.EventAudio, PCM: pcm}, ack} {
			select {
			case k.peer.events <- ev:
			case <-k.peer.ended:
				return
			}
		}
	}
}

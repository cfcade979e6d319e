package bench

import (
	"context"
	"encoding/gob"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/live/sim"
)

const (
	readyPath   = "/bench/ready"   // how many connections were accepted
	noticesPath = "/bench/notices" // what happened since the last request
	noticesMax  = 4 << 20          // kept between two requests: an hour of 100 calls
)

// notice is something that happened at the model.
type notice struct {
	Connection int // from 1, in the order in which they were accepted
	Kind       sim.WatchedKind
	At         time.Time
	Number     int // of a frame
}

// Model is the embedded model with a clock: it notes when each numbered frame arrived and when each
// reply began. It is an http.Handler.
type Model struct {
	sim     *sim.Server
	numbers *numberReader

	mu      sync.Mutex
	order   map[int]int // from the simulator's IDs
	notices []notice
}

// NewModel returns a model that takes as many connections.
func NewModel(connectionsMax int) (*Model, error) {
	m := &Model{numbers: newNumberReader(), order: map[int]int{}}
	var err error
	m.sim, err = sim.New(sim.Config{FixedReply: reply(), RepliesMax: -1, ConnectionsMax: connectionsMax, Watch: m.watch})
	return m, err
}

// reply returns what the model says. Its syllables have no rhythm: callers have one, and a gateway would
// take a caller with the rhythm of the reply for its echo.
func reply() (pcm []int16) {
	v, rng := newVoice(24000), rand.New(rand.NewPCG(1, 2))
	for n := 0; frames(n) < ReplyLength; n++ {
		pcm = append(pcm, v.frames[rng.IntN(2)][n%toneCount]...)
	}
	return pcm
}

// Close ends all connections.
func (m *Model) Close() error { return m.sim.Close() }

// ServeHTTP implements http.Handler.
func (m *Model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case readyPath:
		m.mu.Lock()
		defer m.mu.Unlock()
		fmt.Fprint(w, len(m.order))
	case noticesPath:
		m.mu.Lock()
		list := m.notices
		m.notices = nil
		m.mu.Unlock()
		_ = gob.NewEncoder(w).Encode(list)
	default:
		m.sim.ServeHTTP(w, r)
	}
}

// watch notes what happens. Each frame of a message is noted by itself.
func (m *Model) watch(w sim.Watched) {
	at := time.Now()
	if w.Kind != sim.WatchedAudio {
		m.note(w, at, silence)
		return
	}
	const size = 2 * audio.DetectorRateHz / 50
	var frame [size / 2]int16
	for pcm := w.PCM; len(pcm) >= size; pcm = pcm[size:] {
		if n := m.numbers.number(audio.AppendSamples(frame[:0], pcm[:size])); n != silence {
			m.note(w, at, n)
		}
	}
}

func (m *Model) note(w sim.Watched, at time.Time, number int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if w.Kind == sim.WatchedReady {
		m.order[w.Connection] = len(m.order) + 1
	}
	if len(m.notices) < noticesMax {
		m.notices = append(m.notices, notice{m.order[w.Connection], w.Kind, at, number})
	}
}

// modelClient asks a Model in another process.
type modelClient struct{ url string }

// ready returns how many connections were accepted.
func (c modelClient) ready(ctx context.Context) (n int, err error) {
	err = c.get(ctx, readyPath, func(r *http.Response) error {
		_, err := fmt.Fscan(r.Body, &n)
		return err
	})
	return n, err
}

// notices returns what happened since the last call.
func (c modelClient) notices(ctx context.Context) (list []notice, err error) {
	err = c.get(ctx, noticesPath, func(r *http.Response) error { return gob.NewDecoder(r.Body).Decode(&list) })
	return list, err
}

func (c modelClient) get(ctx context.Context, path string, read func(*http.Response) error) error {
	return get(ctx, c.url+path, read)
}

// get requests a URL and reads the answer.
func get(ctx context.Context, url string, read func(*http.Response) error) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("bench: get %s: %s", url, answer.Status)
	}
	if err := read(answer); err != nil {
		return fmt.Errorf("bench: read %s: %w", url, err)
	}
	return nil
}

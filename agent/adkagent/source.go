package adkagent

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"strconv"
	"sync"
	"time"

	adk "google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/platform"
)

// Source makes the ids and times of ADK reproducible: with the same seed and the same inputs, the events of each
// branch are the same, byte for byte and in their order. Which of two parallel branches stores an event first is up
// to ADK. Set it as Options.Source, and give runners the context that Context returns. Services called with it make
// the same session ids, too.
//
// Runs that use one Source must begin one after the other. It is safe for concurrent use otherwise.
type Source struct {
	seed  string
	start time.Time

	mu   sync.Mutex
	runs int
}

// NewSource returns a Source. Times begin at start; each run begins one minute after the one before, and
// each event one millisecond after the one before in its branch.
func NewSource(seed string, start time.Time) *Source { return &Source{seed: seed, start: start.UTC()} }

// Context returns a context for one call of a runner or a session service: it carries ADK's providers of
// ids and times. Call it anew for each.
func (s *Source) Context(ctx context.Context) context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.runs++
	return s.provide(ctx, s.start.Add(time.Duration(s.runs)*time.Minute), "run", strconv.Itoa(s.runs))
}

// provide puts providers of ids and times into a context. The ids depend on the labels alone, and on how
// many were made before.
func (s *Source) provide(ctx context.Context, from time.Time, labels ...string) context.Context {
	h := sha256.New()
	for _, l := range append([]string{s.seed}, labels...) {
		fmt.Fprintf(h, "%d:%s", len(l), l)
	}
	p := &sequence{base: h.Sum(nil), now: from}
	return platform.WithTimeProvider(platform.WithUUIDProvider(ctx, p.id), p.time)
}

// sequence makes ids and times.
type sequence struct {
	base []byte

	mu  sync.Mutex
	ids uint64
	now time.Time
}

func (p *sequence) id() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ids++
	h := sha256.New()
	write(h, p.base, p.ids)
	id := h.Sum(nil)[:16]
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80 // RFC 9562, section 5.8
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}

func write(h hash.Hash, base []byte, n uint64) {
	h.Write(base)
	h.Write(binary.BigEndian.AppendUint64(nil, n))
}

func (p *sequence) time() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now = p.now.Add(time.Millisecond)
	return p.now
}

// invocation returns the invocation with providers of its own: they depend on the invocation, its branch
// and the events of that branch so far, but not on what other branches do meanwhile. The second one is for
// partial events, which may be dropped.
func (s *Source) invocation(ic adk.InvocationContext, agent string) (adk.InvocationContext, adk.InvocationContext,
	time.Time) {
	if s == nil {
		return ic, ic, time.Time{}
	}
	v := view{branch: ic.Branch()}
	n, last := 0, s.start
	for _, e := range eventsOf(ic.Session()) {
		if e.InvocationID == ic.InvocationID() && v.sees(e.Branch) {
			n++
			if e.Timestamp.After(last) {
				last = e.Timestamp.UTC()
			}
		}
	}
	with := func(what string) adk.InvocationContext {
		return ic.WithContext(s.provide(ic, last, what, ic.InvocationID(), ic.Branch(), agent, strconv.Itoa(n)))
	}
	return with("turn"), with("partial"), last
}

// part returns the invocation with providers for one of several things that happen at a time.
func (s *Source) part(ic adk.InvocationContext, from time.Time, label string) adk.InvocationContext {
	if s == nil {
		return ic
	}
	return ic.WithContext(s.provide(ic, from, "part", ic.InvocationID(), label))
}

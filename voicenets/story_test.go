package voicenets

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/voicegw/voicegw/petri"
)

// listener is a peer that plays a frame every 20 ms and acknowledges each, lag
// later. It obeys every clear at once.
type listener struct {
	t     *testing.T
	m     *petri.Machine
	lag   time.Duration
	now   time.Duration
	queue []*ReplyFrame
	acks  []lateAck
	heard []int // numbers of frames, in order
	out   int   // handed over, and neither acknowledged nor cleared
	most  int   // the most there ever was of that
	told  []NoticeKind
}

type lateAck struct {
	at  time.Duration
	gen petri.Gen
}

func listen(t *testing.T, c Config, lag time.Duration) *listener {
	t.Helper()
	n, err := Session(c)
	return &listener{t: t, m: compile(t, n, err).Start(), lag: lag}
}

// inject puts a token in and acts on what comes out.
func (l *listener) inject(tok petri.Token) {
	l.t.Helper()
	if err := l.m.Inject(l.now, tok); err != nil {
		l.t.Fatal(err)
	}
	l.take()
}

func (l *listener) take() {
	for _, tok := range l.m.Advance(l.now).Out {
		switch v := tok.Value().(type) {
		case *ReplyFrame:
			l.queue = append(l.queue, v)
			l.out++
			l.most = max(l.most, l.out)
		case Notice:
			l.told = append(l.told, v.Kind)
			if v.Kind == ClearPlayout {
				l.queue, l.out = nil, 0
			}
		}
	}
}

// step lets 20 ms pass.
func (l *listener) step() {
	l.now += 20 * time.Millisecond
	l.take()
	for len(l.acks) > 0 && l.acks[0].at <= l.now {
		ack := l.acks[0]
		l.acks = l.acks[1:]
		l.out = max(0, l.out-1)
		l.inject(PeerAck.Token(Ack{Gen: ack.gen}))
	}
	if len(l.queue) > 0 {
		f := l.queue[0]
		l.queue = l.queue[1:]
		l.heard = append(l.heard, int(f.PCM[0]))
		l.acks = append(l.acks, lateAck{l.now + l.lag, f.Gen})
	}
}

func (l *listener) told1(k NoticeKind) (n int) {
	for _, have := range l.told {
		if have == k {
			n++
		}
	}
	return n
}

// TestCoughsLoseNothing lets a caller cough over a reply, at any time and
// however late acknowledgements are: every frame is heard, in order; a pause
// repeats at most what was played and not yet acknowledged.
func TestCoughsLoseNothing(t *testing.T) {
	const frames = 150
	for _, det := range []Detection{Manual, Server} {
		for seed := range uint64(50) {
			t.Run(fmt.Sprintf("%d %d", det, seed), func(t *testing.T) {
				rnd := rand.New(rand.NewPCG(seed, 1))
				lag := time.Duration(rnd.IntN(15)) * 20 * time.Millisecond
				l := listen(t, Config{Detection: det}, lag)
				for i := range frames {
					l.inject(ModelAudio.Token(&ReplyFrame{PCM: []int16{int16(i)}}))
				}
				l.inject(ModelSignal.Token(GenerationComplete))
				l.inject(ModelSignal.Token(TurnComplete))
				coughs := cough(l, rnd)
				if l.told1(ReplyComplete) != 1 || l.told1(ReplyPaused) != l.told1(ReplyResumed) {
					t.Errorf("after %d coughs and %v: %v", coughs, l.now, l.told)
				}
				if l.most > 20 {
					t.Errorf("%d frames were on their way at a time, the budget is 20", l.most)
				}
				repeats := inOrder(t, l.heard, frames)
				if most := l.told1(ReplyPaused) * (int(lag/(20*time.Millisecond)) + 1); repeats > most {
					t.Errorf("%d frames were heard twice, want at most %d", repeats, most)
				}
			})
		}
	}
}

// cough coughs until the reply is over, at most for a minute: 120 ms, then 500
// of hangover.
func cough(l *listener, rnd *rand.Rand) (coughs int) {
	for steps, open := 0, -1; steps < 3000 && l.told1(ReplyComplete) == 0; steps++ {
		switch {
		case open < 0 && rnd.IntN(40) == 0 && l.told1(ReplyStarted) > 0:
			open = 0
			coughs++
			l.inject(SpeechEdge.Token(SpeechStart))
		case open == 31:
			open = -1
			l.inject(SpeechEdge.Token(SpeechStop))
		case open >= 0:
			if open++; open%5 == 0 {
				l.inject(SpeechEdge.Token(SpeechMore))
			}
		}
		l.step()
	}
	return coughs
}

// inOrder wants all frames heard, none skipped, and counts those heard again.
func inOrder(t *testing.T, heard []int, frames int) (repeats int) {
	t.Helper()
	next := 0
	for _, i := range heard {
		switch {
		case i > next:
			t.Fatalf("behind frame %d came %d: %v", next-1, i, heard)
		case i < next:
			repeats++
		default:
			next++
		}
	}
	if next != frames {
		t.Errorf("%d of %d frames were heard", next, frames)
	}
	return repeats
}

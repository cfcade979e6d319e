package console

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/event"
	"github.com/voicegw/voicegw/voicenets"
)

// tape records a call that a test makes up. It plays the caller's side, which acknowledges what it
// hears, and the model's connection.
type tape struct {
	testing.TB
	prog    *petri.Program
	m       *petri.Machine
	log     bytes.Buffer
	archive *event.Archive
	agenda  []entry
	heard   time.Duration          // when the last frame was played
	cleared int                    // how often the caller's side dropped what it had not played
	dials   []voicenets.DialResult // of the dials to come; Fresh when there is none

	dialTakes time.Duration // 50 ms if it is 0
}

type entry struct {
	at time.Duration
	do func()
}

const second = time.Second

func newTape(tb testing.TB, cfg voicenets.Config) *tape {
	tb.Helper()
	net, err := voicenets.Session(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	prog, err := petri.Compile(net)
	if err != nil {
		tb.Fatal(err)
	}
	t := &tape{TB: tb, prog: prog, m: prog.Start()}
	t.archive = event.NewArchive(&t.log, prog, event.ArchiveConfig{Run: "c-tape",
		Start: time.Unix(1_700_000_000, 0).UTC()})
	return t
}

// at injects tokens at a time to come.
func (t *tape) at(at time.Duration, tokens ...petri.Token) {
	t.do(at, func() { t.inject(at, tokens...) })
}

func (t *tape) do(at time.Duration, do func()) {
	i, _ := slices.BinarySearchFunc(t.agenda, at, func(e entry, at time.Duration) int {
		if e.at <= at {
			return -1
		}
		return 1
	})
	t.agenda = slices.Insert(t.agenda, i, entry{at, do})
}

func (t *tape) inject(at time.Duration, tokens ...petri.Token) {
	for _, tok := range tokens {
		if err := t.m.Inject(at, tok); err != nil && !errors.Is(err, petri.ErrEnded) {
			t.Fatal(err)
		}
	}
}

// run plays what is on the agenda up to a time.
func (t *tape) run(end time.Duration) {
	for {
		t.advance(min(end, t.m.Now()))
		next := min(end, t.m.Wake())
		if len(t.agenda) > 0 && t.agenda[0].at <= next {
			e := t.agenda[0]
			t.agenda = t.agenda[1:]
			e.do()
			continue
		}
		t.advance(next)
		if next == end && (len(t.agenda) == 0 || t.agenda[0].at > end) && t.m.Wake() > end {
			return
		}
	}
}

func (t *tape) advance(at time.Duration) {
	r := t.m.Advance(at)
	t.archive.Append(r.Events)
	for _, o := range r.Out {
		switch o.Place() {
		case string(voicenets.AudioDown):
			frame, _ := voicenets.AudioDown.From(o)
			t.heard = max(t.m.Now(), t.heard) + 20*time.Millisecond
			at, before := t.heard, t.cleared
			t.do(at, func() {
				if t.cleared == before {
					t.inject(at, voicenets.PeerAck.Token(voicenets.Ack{Gen: frame.Gen}))
				}
			})
		case string(voicenets.Clear):
			t.cleared++
			t.heard = 0
		case string(voicenets.Dial):
			how := voicenets.Fresh
			if len(t.dials) > 0 {
				how, t.dials = t.dials[0], t.dials[1:]
			}
			t.at(t.m.Now()+cmp.Or(t.dialTakes, 50*time.Millisecond), voicenets.Dialled.Token(&voicenets.Dialling{Result: how}))
		}
	}
}

// speak lets the caller speak.
func (t *tape) speak(from, to time.Duration) {
	t.at(from, voicenets.SpeechEdge.Token(voicenets.SpeechStart))
	for at := from; at < to; at += 20 * time.Millisecond {
		t.at(at, voicenets.CallerAudio.Token(&voicenets.CallerFrame{PCM: make([]int16, 160)}))
		switch since := at - from; {
		case since == 300*time.Millisecond:
			t.at(at, voicenets.SpeechEdge.Token(voicenets.SpeechConfirm))
		case since > 0 && since%(100*time.Millisecond) == 0:
			t.at(at, voicenets.SpeechEdge.Token(voicenets.SpeechMore))
		}
	}
	t.at(to, voicenets.SpeechEdge.Token(voicenets.SpeechStop))
}

// reply lets the model send audio of a length, and the end of its turn unless it is torn.
func (t *tape) reply(at, length time.Duration, torn bool) {
	for i := range length / (20 * time.Millisecond) {
		t.at(at+i*5*time.Millisecond, voicenets.ModelAudio.Token(&voicenets.ModelFrame{PCM: make([]int16, 320)}))
	}
	if !torn {
		t.at(at+length/4, voicenets.ModelSignal.Token(voicenets.GenerationComplete),
			voicenets.ModelSignal.Token(voicenets.TurnComplete))
	}
}

// file returns the archive.
func (t *tape) file() []byte { return t.log.Bytes() }

// whole reads an archive as the console does.
func whole(tb testing.TB, prog *petri.Program, file []byte) (*recorder, Batch) {
	tb.Helper()
	r, err := event.NewReader(bytes.NewReader(file))
	if err != nil {
		tb.Fatal(err)
	}
	rec := newRecorder(prog.Track())
	if _, err := rec.read(r, eventsMax); !errors.Is(err, io.EOF) {
		tb.Fatal(err)
	}
	return rec, rec.flush(rec.t.Now())
}

// text is a value as JSON.
func text(tb testing.TB, v any) string {
	tb.Helper()
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		tb.Fatal(err)
	}
	return string(b)
}

package voicegw

import (
	"sync"
	"time"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/voicenets"
)

// Record is what became of a call: no word of it, and no digit.
type Record struct {
	Call     string            `json:"call"`
	Door     string            `json:"door,omitempty"`
	From     string            `json:"from,omitempty"`
	To       string            `json:"to,omitempty"`
	Client   string            `json:"client,omitempty"`
	Labels   map[string]string `json:"labels,omitempty"` // of the Plan
	Began    time.Time         `json:"began"`
	Duration time.Duration     `json:"duration_ns"`
	Reason   string            `json:"reason"` // transport.Reason, as on the wire
	Error    string            `json:"error,omitempty"`

	Replies            int `json:"replies"`             // of the model, and prompts
	Interrupted        int `json:"interrupted"`         // by the caller
	FalseInterruptions int `json:"false_interruptions"` // paused and resumed
	Unanswered         int `json:"unanswered"`          // turns of the caller's without a reply
	LinksLost          int `json:"links_lost"`          // connections to the model that were replaced
	HeardMS            int `json:"heard_ms"`            // of the replies, as the peer acknowledged

	// RecordLost says that events are missing from what Config.Record wrote.
	RecordLost bool `json:"record_lost,omitempty"`
}

// tally counts what a Record tells. The zero value is ready.
type tally struct {
	mu     sync.Mutex
	counts Record
}

// notice counts what the peer is told.
func (t *tally) notice(k voicenets.NoticeKind) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch k {
	case voicenets.ReplyStarted:
		t.counts.Replies++
	case voicenets.ReplyCut:
		t.counts.Interrupted++
	case voicenets.ReplyResumed:
		t.counts.FalseInterruptions++
	case voicenets.NoReply:
		t.counts.Unanswered++
	case voicenets.LinkLost:
		t.counts.LinksLost++
	}
}

// heard counts frames that were played.
func (t *tally) heard(frames int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.counts.HeardMS += frames * transport.FrameMS
}

// record is what became of the call, which is over.
func (c *call) record() Record {
	c.tally.mu.Lock()
	r := c.tally.counts
	c.tally.mu.Unlock()
	w := c.ended()
	r.RecordLost = c.recorder != nil && c.recorder.isLost()
	r.Call, r.Door, r.Client, r.Labels = c.id, c.hello.Door, c.hello.Client, c.plan.Labels
	r.From, r.To = c.hello.From, c.hello.To
	r.Began, r.Duration, r.Reason = c.began, time.Since(c.began), w.reason.String()
	if w.err != nil {
		r.Error = w.err.Error()
	}
	return r
}

package voicegw

import (
	"sync"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/voicenets"
)

// Record summarizes a call that has ended. It contains no transcript and no digits.
type Record struct {
	Call     string            `json:"call"`
	Endpoint string            `json:"endpoint,omitempty"`
	From     string            `json:"from,omitempty"`
	To       string            `json:"to,omitempty"`
	Client   string            `json:"client,omitempty"`
	Labels   map[string]string `json:"labels,omitempty"` // of the Plan
	// CarrierCall is the carrier's own id of the call.
	CarrierCall string `json:"carrier_call,omitempty"`
	// Trace, TraceParent and TraceState are those of the Hello.
	Trace       string `json:"trace,omitempty"`
	TraceParent string `json:"-"`
	TraceState  string `json:"-"`

	Began    time.Time     `json:"began"`
	Duration time.Duration `json:"duration_ns"`
	Reason   string        `json:"reason"` // transport.Reason, as on the wire
	Error    string        `json:"error,omitempty"`

	Replies            int `json:"replies"`             // of the model, and prompts
	Interrupted        int `json:"interrupted"`         // by the caller
	FalseInterruptions int `json:"false_interruptions"` // paused and resumed
	Unanswered         int `json:"unanswered"`          // turns of the caller without a reply
	LinksLost          int `json:"links_lost"`          // connections to the model that were replaced
	HeardMS            int `json:"heard_ms"`            // of the replies, as the peer acknowledged

	// Model is the name of the model.
	Model string `json:"model,omitempty"`
	// Tokens are those that the model reported by the ends of its turns.
	Tokens Tokens `json:"tokens,omitzero"`
	// CostDollars is what these tokens cost by Config.Price. It is nil if that has no price of the
	// model, or no tokens were reported.
	CostDollars *float64 `json:"cost_dollars,omitempty"`

	// ArchiveLost is true if the archive is incomplete.
	ArchiveLost bool `json:"archive_lost,omitempty"`
}

// Tokens are the tokens of a call, by the kinds of the metric voicegw_model_tokens_total: InputAudio and
// InputCached are parts of Input, OutputAudio is one of Output, and Thoughts are counted apart.
type Tokens struct {
	Input       int64 `json:"input"`
	InputAudio  int64 `json:"input_audio"`
	InputCached int64 `json:"input_cached"`
	Output      int64 `json:"output"`
	OutputAudio int64 `json:"output_audio"`
	Thoughts    int64 `json:"thoughts"`
}

// tally counts what a Record reports. The zero value is ready to use.
type tally struct {
	mu     sync.Mutex
	counts Record
}

// notice counts a notice to the peer.
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

// spent counts the tokens of a turn, and what they cost if that is known.
func (t *tally) spent(u transport.Usage, dollars float64, known bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	sum := &t.counts.Tokens
	for _, k := range [...]struct {
		to *int64
		n  int32
	}{{&sum.Input, u.Prompt}, {&sum.InputAudio, u.PromptAudio}, {&sum.InputCached, u.Cached}, {&sum.Output, u.Response},
		{&sum.OutputAudio, u.ResponseAudio}, {&sum.Thoughts, u.Thoughts}} {
		*k.to += int64(max(k.n, 0))
	}
	if known {
		if t.counts.CostDollars == nil {
			t.counts.CostDollars = new(float64)
		}
		*t.counts.CostDollars += dollars
	}
}

// sum returns a record with the counts.
func (t *tally) sum() Record {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.counts
}

// report logs, counts and hands over the record of a call that has ended with err.
func (c *call) report(err error) {
	c.log.Info("call ended", zap.String("endpoint", c.hello.Endpoint), c.carrierCall(),
		zap.Stringer("reason", c.end.ending().reason),
		zap.Duration("after", time.Since(c.began)), zap.Object("net", c.netStats()), zap.Error(err))
	var lateness time.Duration
	if c.net != nil {
		lateness = c.net.Stats().LatenessMax
	}
	record := c.record()
	c.metrics.running.end(c)
	c.metrics.record(record, lateness)
	if ended := c.cfg.Hooks.Ended; ended != nil {
		ended(record)
	}
}

// carrierCall is the field of the log with the carrier's id of the call, if it gave one.
func (c *call) carrierCall() zap.Field {
	if c.hello.CarrierCall == "" {
		return zap.Skip()
	}
	return zap.String("carrier_call", c.hello.CarrierCall)
}

// record is the record of a call that has ended.
func (c *call) record() Record {
	r, w := c.out.tally.sum(), c.end.ending()
	r.ArchiveLost = c.archive != nil && c.archive.incomplete()
	r.Call, r.Endpoint, r.Client, r.Labels = c.id, c.hello.Endpoint, c.hello.Client, c.plan.Labels
	r.Model = c.out.modelName
	r.From, r.To, r.CarrierCall = c.hello.From, c.hello.To, c.hello.CarrierCall
	r.Trace, r.TraceParent, r.TraceState = c.hello.Trace, c.hello.TraceParent, c.hello.TraceState
	r.Began, r.Duration, r.Reason = c.began, time.Since(c.began), w.reason.String()
	if w.err != nil {
		r.Error = w.err.Error()
	}
	return r
}

// netStats logs what the net counted.
func (c *call) netStats() zapcore.ObjectMarshaler {
	return zapcore.ObjectMarshalerFunc(func(e zapcore.ObjectEncoder) error {
		if c.net != nil {
			s := c.net.Stats()
			e.AddUint64("fired", s.Fired)
			e.AddUint64("refused", s.Refused)
			e.AddUint64("dropped", s.Dropped)
			e.AddUint64("late", s.Late)
			e.AddDuration("lateness_max", s.LatenessMax)
		}
		return nil
	})
}

// lastEvents describes the call's last events for the log.
func (c *call) lastEvents() []string {
	const most = 20
	var list []string
	for _, e := range c.events.Events(nil) {
		list = append(list, c.prog.Describe(e))
	}
	return list[max(0, len(list)-most):]
}

package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/settings"
	"github.com/voicegw/voicegw/transport"
)

// Limits of records.
const (
	recordTurnsMax  = 1000
	recordTextMax   = 256 << 10 // bytes of text in a record
	recordQueueMax  = 1024      // records that wait for the disk; one more is lost
	recordCloseWait = 2 * time.Second
)

// The names of files with records.
const (
	recordsName = "calls"
	recordsJSON = ".jsonl"
)

// callRecord is a record as it is exported: that of the gateway, and its turns.
type callRecord struct {
	voicegw.Record
	Turns        []turnRecord `json:"turns"`
	TurnsLeftOut int          `json:"turns_left_out,omitempty"`

	text int // bytes of text so far
}

// turnRecord is a turn in a record.
type turnRecord struct {
	Who       transport.Who     `json:"who"`
	Text      string            `json:"text,omitempty"`
	End       transport.TurnEnd `json:"end,omitempty"`
	HeardMS   int64             `json:"heard_ms,omitempty"`
	LatencyMS int64             `json:"latency_ms,omitempty"`
	Tokens    int32             `json:"tokens,omitempty"`
	Prompt    bool              `json:"prompt,omitempty"`
	BeganMS   int64             `json:"began_ms,omitempty"` // since the call began: of the speech
	EndedMS   int64             `json:"ended_ms,omitempty"` // since the call began
	Tools     []toolRecord      `json:"tools,omitempty"`
}

// toolRecord is a tool call in a record, without what it was asked and answered.
type toolRecord struct {
	Name    string `json:"name"`
	Result  string `json:"result"`
	BeganMS int64  `json:"began_ms"` // since the call did
	TookMS  int64  `json:"took_ms"`
}

// records writes a record of each call that has ended. Calls never wait for it: what the disk does
// not take in time is lost and counted. A nil *records writes none.
type records struct {
	files       []*rotatedFile
	transcripts bool
	dir         string
	log         *zap.Logger
	queue       chan *callRecord
	lost        atomic.Uint64

	mu      sync.Mutex
	running map[string]*callRecord // turns of calls that run
}

// newRecords returns what writes the records that the settings ask for, or nil.
func newRecords(s *settings.Settings, log *zap.Logger) *records {
	set := &s.Records
	if set.Dir == "" {
		return nil
	}
	r := &records{transcripts: set.Transcripts, dir: set.Dir, log: log.Named("records"),
		queue: make(chan *callRecord, recordQueueMax), running: map[string]*callRecord{}}
	file := func(ending string, format func(*callRecord) ([]byte, error), head []byte) {
		r.files = append(r.files, &rotatedFile{dir: set.Dir, name: recordsName, ending: ending, bytesMax: set.FileBytes,
			filesMax: set.Files, format: format, head: head, remove: os.Remove})
	}
	if set.JSON {
		file(recordsJSON, jsonRecord, nil)
	}
	if set.CSV {
		head, _ := csvLine(csvColumns()) // of constants
		file(".csv", csvRecord, head)
	}
	return r
}

// join adds the hooks that records need behind those that are there.
func (r *records) join(h *voicegw.Hooks) {
	if r == nil {
		return
	}
	turn, ended := h.Turn, h.Ended
	h.Turn = func(s *voicegw.Session, t voicegw.Turn) {
		r.turn(s.ID(), &t)
		if turn != nil {
			turn(s, t)
		}
	}
	h.Ended = func(rec voicegw.Record) {
		r.ended(rec)
		if ended != nil {
			ended(rec)
		}
	}
}

// turn notes a turn of a call.
func (r *records) turn(call string, t *voicegw.Turn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	rec := r.running[call]
	if rec == nil {
		rec = &callRecord{}
		r.running[call] = rec
	}
	line := turnRecord{Who: t.Who, End: t.End, HeardMS: t.HeardMS, LatencyMS: t.Latency.Milliseconds(),
		Tokens: t.Usage.Total, Prompt: t.Prompt, BeganMS: spoken(t).Milliseconds(), EndedMS: t.Ended.Milliseconds()}
	if n := len(rec.Turns); n > 0 && rec.Turns[n-1].Who == transport.WhoCaller && rec.Turns[n-1].BeganMS == 0 {
		rec.Turns[n-1].BeganMS = t.Began().Milliseconds()
	}
	for _, c := range t.Tools {
		line.Tools = append(line.Tools, toolRecord{c.Name, c.Result, c.Began.Milliseconds(),
			(c.Ended - c.Began).Milliseconds()})
	}
	if r.transcripts {
		line.Text = t.Text
	}
	if len(rec.Turns) == recordTurnsMax || rec.text+len(line.Text) > recordTextMax {
		rec.TurnsLeftOut++
		return
	}
	rec.text += len(line.Text)
	rec.Turns = append(rec.Turns, line)
}

// spoken returns when the speech of a turn began; 0 if that is not known yet.
func spoken(t *voicegw.Turn) time.Duration {
	if t.Who == transport.WhoCaller {
		return t.Began()
	}
	for _, s := range t.Stages {
		if s.Name == voicegw.SentFirst {
			return s.At
		}
	}
	return t.Ended
}

// ended queues the record of a call that has ended. It never blocks.
func (r *records) ended(rec voicegw.Record) {
	r.mu.Lock()
	whole := r.running[rec.Call]
	delete(r.running, rec.Call)
	r.mu.Unlock()
	if whole == nil {
		whole = &callRecord{Turns: []turnRecord{}}
	}
	whole.Record = rec
	select {
	case r.queue <- whole:
	default:
		r.lose(rec.Call, fmt.Errorf("%d records wait for the disk", recordQueueMax))
	}
}

// lose counts a record that was not written.
func (r *records) lose(call string, err error) {
	r.lost.Add(1)
	r.log.Error("the record of a call is lost", zap.String("call", call), zap.Error(err))
}

// run writes records until ctx is done, and then those that wait.
func (r *records) run(ctx context.Context) {
	if r == nil {
		return
	}
	for {
		select {
		case rec := <-r.queue:
			r.write(rec)
		case <-ctx.Done():
			for len(r.queue) > 0 {
				r.write(<-r.queue)
			}
			return
		}
	}
}

// start writes records in a goroutine. The function that it returns waits until those of all calls that
// have ended are written, but not long for a disk that does not answer.
func (r *records) start() (finish func()) {
	ctx, cancel := context.WithCancel(context.Background())
	written := make(chan struct{})
	go func() { // ends with finish, or with the process
		r.run(ctx)
		close(written)
	}()
	return func() {
		cancel()
		limit := time.NewTimer(recordCloseWait)
		defer limit.Stop()
		select {
		case <-written:
		case <-limit.C:
			r.log.Error("records of calls are lost: the disk does not answer", zap.Int("records", len(r.queue)))
		}
	}
}

// write writes a record in every format.
func (r *records) write(rec *callRecord) {
	for _, f := range r.files {
		if err := f.add(rec); err != nil {
			r.lose(rec.Call, err)
		}
		if err := f.prune(); err != nil { // the record is written
			r.log.Error("old records are not deleted", zap.Error(err))
		}
	}
}

// metrics returns the counter of records that were not written.
func (r *records) metrics() prometheus.Collector {
	return prometheus.NewCounterFunc(prometheus.CounterOpts{Namespace: "voicegw", Name: "records_lost_total",
		Help: "Records of calls that could not be written to a file of records.dir."}, func() float64 {
		if r == nil {
			return 0
		}
		return float64(r.lost.Load())
	})
}

// jsonRecord returns a record as a line of JSON.
func jsonRecord(r *callRecord) ([]byte, error) {
	b, err := json.Marshal(r)
	return append(b, '\n'), err
}

// csvColumns are the columns of a CSV file.
func csvColumns() []string {
	return []string{"call", "carrier_call", "endpoint", "from", "to", "client", "labels", "began", "seconds", "reason",
		"error", "replies", "interrupted", "false_interruptions", "unanswered", "links_lost", "heard_seconds",
		"archive_lost", "turns", "model", "input_tokens", "output_tokens", "cost_dollars"}
}

// csvRecord returns a record as a line of CSV.
func csvRecord(r *callRecord) ([]byte, error) {
	labels := []byte{}
	if len(r.Labels) > 0 {
		var err error
		if labels, err = json.Marshal(r.Labels); err != nil {
			return nil, err
		}
	}
	dollars := "" // not known
	if r.CostDollars != nil {
		dollars = strconv.FormatFloat(*r.CostDollars, 'f', 6, 64)
	}
	seconds := func(ms int64) string { return strconv.FormatFloat(float64(ms)/1000, 'f', 3, 64) }
	return csvLine([]string{r.Call, r.CarrierCall, r.Endpoint, r.From, r.To, r.Client, string(labels),
		r.Began.UTC().Format(time.RFC3339Nano), seconds(r.Duration.Milliseconds()), r.Reason, r.Error,
		strconv.Itoa(r.Replies), strconv.Itoa(r.Interrupted), strconv.Itoa(r.FalseInterruptions),
		strconv.Itoa(r.Unanswered), strconv.Itoa(r.LinksLost), seconds(int64(r.HeardMS)), strconv.FormatBool(r.ArchiveLost),
		strconv.Itoa(len(r.Turns) + r.TurnsLeftOut), r.Model, strconv.FormatInt(r.Tokens.Input, 10),
		strconv.FormatInt(r.Tokens.Output, 10), dollars})
}

// csvLine returns a line of CSV (RFC 4180). A value that a spreadsheet would take for a formula gets
// an apostrophe in front, because callers choose some values; a telephone number keeps its plus.
func csvLine(values []string) ([]byte, error) {
	for i, v := range values {
		if v != "" && strings.ContainsAny(v[:1], "=@-+\t\r") && strings.Trim(v, "+0123456789") != "" {
			values[i] = "'" + v
		}
	}
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write(values) // a buffer takes everything
	w.Flush()
	return b.Bytes(), w.Error()
}

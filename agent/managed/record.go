package managed

import (
	"encoding/json"
	"fmt"
	"time"

	"google.golang.org/adk/v2/model"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/journal"
)

// formatVersion is the version of the records of a session. A journal with a newer one is refused.
const formatVersion = 1

// recordKind says what a record of a session's log is.
type recordKind string

// The records of a session.
const (
	recordSession recordKind = "session" // the first one
	recordInput   recordKind = "input"   // events of the user that are accepted
	recordEvents  recordKind = "events"  // events of the session
	recordBegin   recordKind = "begin"   // a turn begins, or is tried again
	recordStart   recordKind = "start"   // an effect begins
	recordFinish  recordKind = "finish"  // an effect has ended
	recordStep    recordKind = "step"    // a turn adds to the conversation
	recordEnd     recordKind = "end"     // a turn has ended, or an attempt of it
	recordControl recordKind = "control" // pause, resume, archive
	recordUpdate  recordKind = "update"  // title or metadata
	recordTools   recordKind = "tools"   // tools of MCP servers get names
)

// record is one entry of a session's log. The fields behind Events belong to single kinds.
type record struct {
	Kind   recordKind `json:"k"`
	At     time.Time  `json:"at"`
	Head   head       `json:"h"`
	Events []*Event   `json:"ev,omitempty"`
	// Content is what the record adds to the conversation, as models see it.
	Content []*genai.Content `json:"content,omitempty"`

	Session *sessionInfo  `json:"session,omitempty"`
	Key     string        `json:"key,omitempty"`  // idempotency key of an input
	Hash    string        `json:"hash,omitempty"` // of its events
	Turn    *turnInfo     `json:"turn,omitempty"`
	Effect  *effectInfo   `json:"effect,omitempty"`
	Effects []*effectInfo `json:"effects,omitempty"` // calls that the client has answered
	Author  string        `json:"author,omitempty"`  // the agent of a step, if the program has several
	To      string        `json:"to,omitempty"`      // the agent that the next turn begins with
	Calls   []*openCall   `json:"calls,omitempty"`   // calls of a step that wait for the client
	Closed  []string      `json:"closed,omitempty"`  // ids of calls that wait no longer
	End     *turnEnd      `json:"end,omitempty"`
	Control control       `json:"control,omitempty"`
	Patch   *SessionPatch `json:"patch,omitempty"`
	Bound   []*boundName  `json:"bound,omitempty"`
	// State is what the answer of a turn changes in the state of the session.
	State map[string]any `json:"state,omitempty"`
}

// head is the session behind a record. The last record of a log so tells the state without the others.
type head struct {
	Status   Status     `json:"s"`
	Paused   bool       `json:"p,omitempty"`
	Usage    Usage      `json:"u"`
	Turns    int        `json:"t,omitempty"`
	Begun    int        `json:"b,omitempty"` // messages that turns began with
	Cost     picos      `json:"c,omitempty"`
	Seq      uint64     `json:"n"`           // number of the last event
	Waits    bool       `json:"w,omitempty"` // something may be to do
	Bytes    int64      `json:"z,omitempty"` // of the records before
	Archived *time.Time `json:"a,omitempty"`
}

// sessionInfo is what a session is made with.
type sessionInfo struct {
	Version     int               `json:"version"` // of the format
	ID          string            `json:"id"`
	Owner       Owner             `json:"owner"`
	Agent       Agent             `json:"agent"`
	Environment string            `json:"environment,omitempty"`
	Title       string            `json:"title,omitempty"`
	Metadata    map[string]string `json:"metadata,omitempty"`
	Budget      *Budget           `json:"budget,omitempty"`
}

// turnInfo is how a turn begins.
type turnInfo struct {
	Number  int      `json:"n"`
	Again   bool     `json:"again,omitempty"`   // another attempt of the same turn
	Message string   `json:"message,omitempty"` // id of the message that it answers
	Version string   `json:"version,omitempty"` // of the program with which the turn began
	Resume  []string `json:"resume,omitempty"`  // the model's ids of calls that the client allowed
	// Keys are the idempotency keys of those that are repeated, by their ids.
	Keys map[string]string `json:"keys,omitempty"`
}

// turnEnd is how a turn, or an attempt of it, ended.
type turnEnd struct {
	How     how      `json:"how"`
	Failure *Failure `json:"failure,omitempty"`
	Stop    string   `json:"stop,omitempty"`   // the type of the stop reason; "" is end_turn
	Detail  string   `json:"detail,omitempty"` // of the stop reason
	// Details are those of a refusal.
	Details *StopDetails `json:"details,omitempty"`
	// Resumes means that the turn goes on as the same one, with its effects.
	Resumes bool `json:"resumes,omitempty"`
}

// how says how a turn ended.
type how string

const (
	turnEnded   how = "ended"
	turnParked  how = "parked"
	turnRetry   how = "retry"
	turnFailed  how = "failed"
	turnStopped how = "stopped"
	turnBroken  how = "broken"
)

// control is what holds or ends a session.
type control string

const (
	controlPause   control = "pause"
	controlResume  control = "resume"
	controlArchive control = "archive"
)

// effectKind is what an effect is.
type effectKind string

const (
	modelEffect    effectKind = "model"
	toolEffect     effectKind = "tool"
	decisionEffect effectKind = "decision" // of a strategy: its response
)

// effectInfo is the start or the end of an effect.
type effectInfo struct {
	// Key names the effect in its turn. An effect that is repeated has the same key.
	Key      string             `json:"key"`
	Kind     effectKind         `json:"kind"`
	Agent    string             `json:"agent,omitempty"` // that has it, if the program has several
	Span     uint64             `json:"span,omitempty"`  // number of the event span.model_request_start
	Response *model.LLMResponse `json:"response,omitempty"`
	Result   map[string]any     `json:"result,omitempty"`
	Failed   bool               `json:"failed,omitempty"` // Result is an error
	Cost     picos              `json:"cost,omitempty"`
	Failure  *effectFailure     `json:"failure,omitempty"`

	// What follows is of calls in turns that resume.
	Stage   stage  `json:"stage,omitempty"`
	Use     string `json:"use,omitempty"`     // id of the event that told the client of the call
	Call    string `json:"call,omitempty"`    // the id of the call in that event
	Unknown bool   `json:"unknown,omitempty"` // it waits because it may have happened
	Late    bool   `json:"late,omitempty"`    // it ended after it was stopped
}

// effectFailure is why a model did not answer.
type effectFailure struct {
	Type      string `json:"type"`
	Text      string `json:"text"`
	Retryable bool   `json:"retryable,omitempty"`
}

// callKind says what a call waits for.
type callKind string

const (
	customCall  callKind = "custom"  // its result
	confirmCall callKind = "confirm" // a confirmation
)

// openCall is a call that waits for the client.
type openCall struct {
	Event  string         `json:"event"` // id of the event that told the client
	ID     string         `json:"id"`    // the model's
	Name   string         `json:"name"`
	Args   map[string]any `json:"args,omitempty"`
	Kind   callKind       `json:"kind"`
	Answer *Event         `json:"answer,omitempty"`
	// Key is the idempotency key of a call that may have happened: the client is asked whether to repeat it.
	Key string `json:"key,omitempty"`
	// Effect is the key of the effect that it is, in a turn that resumes.
	Effect string `json:"effect,omitempty"`
}

// encode returns a record as bytes. It fails if the record is too large for the journal.
func (r *record) encode() ([]byte, error) {
	b, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("managed: encode a record: %w", err)
	}
	if len(b) > journal.RecordMax {
		return nil, &Error{Code: Invalid, Message: fmt.Sprintf("what is to be stored has %d bytes; at most %d are allowed",
			len(b), journal.RecordMax)}
	}
	return b, nil
}

// decode reads a record.
func decodeRecord(rec journal.Record) (*record, error) {
	r := &record{}
	if err := json.Unmarshal(rec.Data, r); err != nil {
		return nil, fmt.Errorf("%w: record %d is not one of a session: %w", journal.ErrCorrupt, rec.Seq, err)
	}
	if r.Session != nil && r.Session.Version > formatVersion {
		return nil, fmt.Errorf("%w: record %d has format %d; this program reads formats up to %d: use a newer voicegw",
			journal.ErrCorrupt, rec.Seq, r.Session.Version, formatVersion)
	}
	return r, nil
}

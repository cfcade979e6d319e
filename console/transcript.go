package console

import (
	"errors"
	"io/fs"
	"net/http"
	"time"
)

// Said is what one side said in one turn.
type Said struct {
	At   float64 `json:"at"`  // milliseconds since the call began
	Who  string  `json:"who"` // caller or model
	Text string  `json:"text"`
	End  string  `json:"end,omitempty"` // why the turn ended; empty if it did not, or is the caller's with a reply
}

// saidMax is how many turns of a call are shown, the newest.
const saidMax = 1000

// transcript is the answer with what was said. why says why there is nothing.
type transcript struct {
	Said []Said `json:"said"`
	Why  string `json:"why,omitempty"`
}

var errNoTranscripts = errors.New("transcripts are off: this program has none for the console")

// runningTranscript returns what was said so far in a running call.
func (s *server) runningTranscript(r *http.Request) (any, error) {
	id := r.PathValue("call")
	if _, ok := s.cfg.Gateway.Session(id); !ok {
		return nil, noCall(id)
	}
	return s.transcript(r, id, time.Time{})
}

// archivedTranscript returns what was said in an archived call.
func (s *server) archivedTranscript(r *http.Request) (any, error) {
	name := r.PathValue("name")
	file, err := s.fileOf(name)
	if err != nil {
		return nil, err
	}
	info, err := fs.Stat(s.cfg.Archives, file)
	if err != nil {
		return nil, err
	}
	if !s.begin() { // to look for it may cost as much as a report
		return nil, errFeeds
	}
	defer s.end()
	written := info.ModTime()
	if written.IsZero() { // a file system without times
		written = time.Now()
	}
	return s.transcript(r, name, written)
}

func (s *server) transcript(r *http.Request, call string, written time.Time) (any, error) {
	said, err := []Said(nil), errNoTranscripts
	if s.cfg.Transcript != nil {
		said, err = s.cfg.Transcript(r.Context(), call, written)
	}
	if err != nil {
		return transcript{Said: []Said{}, Why: err.Error()}, nil
	}
	return transcript{Said: append([]Said{}, said[max(0, len(said)-saidMax):]...)}, nil
}

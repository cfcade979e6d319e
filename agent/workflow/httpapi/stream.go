package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/voicegw/voicegw/agent/managed"
	"github.com/voicegw/voicegw/agent/workflow/exec"
)

// writeMax is how long a reader may take for one event, or for an answer. A reader that takes longer is cut off; one of
// a stream goes on with Last-Event-ID.
const writeMax = 30 * time.Second

// shown is an event as a stream has it: with its author, and its content as text.
type shown struct {
	Author  string `json:"author"`
	IsFinal bool   `json:"is_final"` // it is the answer of the workflow
	Content string `json:"content"`
	*managed.Event
}

// frame is an event of a stream.
type frame struct {
	id   uint64 // 0: it has none
	name string
	data any
}

// stream sends the events of a run as they come.
func (s *Server) stream(r *request) (any, error) {
	g, o, err := s.ordered(r)
	if err == error(errNothing) {
		r.w.WriteHeader(http.StatusNoContent) // an EventSource stops then
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if err := r.patient(s.writeMax); err != nil {
		return nil, err
	}
	h := r.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	r.w.WriteHeader(http.StatusOK)
	t := teller{r.w}
	if t.send(frame{name: "session", data: map[string]string{"session_id": g.session}}) == nil {
		s.tell(r.Context(), g, t)
	}
	g.left(r.Context(), o)
	return nil, nil
}

// tell sends events until the run is at rest or the reader is gone. A goroutine reads the events; it ends with ctx, or
// with the run.
func (s *Server) tell(ctx context.Context, g *reading, t teller) {
	ctx, cancel := context.WithCancel(ctx)
	frames := make(chan frame)
	go func() {
		defer close(frames)
		give := func(f frame) error {
			select {
			case frames <- f:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		err := g.read(ctx, func(ev *managed.Event, last *exec.Outcome) error {
			if ev.Seq < g.after {
				return nil
			}
			return give(frameOf(g.flow, ev, last))
		})
		if err != nil && ctx.Err() == nil {
			_ = give(frame{name: "error", data: problemOf(err).frame()})
		}
	}()
	defer func() {
		cancel()
		for range frames { // until the goroutine is gone
		}
	}()
	beat := time.NewTicker(s.cfg.Heartbeat)
	defer beat.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-beat.C:
			if t.write(": still here\n\n") != nil {
				return
			}
		case f, ok := <-frames:
			if !ok || t.send(f) != nil {
				return
			}
			beat.Reset(s.cfg.Heartbeat)
		}
	}
}

// frameOf is the frame of an event. The last one of a run is done or error.
func frameOf(flow string, ev *managed.Event, last *exec.Outcome) frame {
	if last != nil {
		if p := failure(last); p != nil {
			return frame{ev.Seq, "error", p.frame()}
		}
		return frame{ev.Seq, "done", map[string]any{"result": last}}
	}
	one := shown{Author: ev.Agent, IsFinal: ev.Type == managed.AgentMessage && ev.Agent == flow, Event: ev}
	if ev.Type == managed.UserMessage {
		one.Author = "user"
	}
	for _, b := range ev.Content {
		one.Content += b.Text
	}
	return frame{ev.Seq, string(ev.Type), one}
}

// teller writes frames to a reader.
type teller struct{ w http.ResponseWriter }

func (t teller) send(f frame) error {
	b, err := json.Marshal(f.data)
	if err != nil {
		return err
	}
	id := ""
	if f.id > 0 {
		id = fmt.Sprintf("id: %d\n", f.id)
	}
	return t.write(fmt.Sprintf("%sevent: %s\ndata: %s\n\n", id, f.name, b))
}

func (t teller) write(text string) error {
	if _, err := t.w.Write([]byte(text)); err != nil {
		return err
	}
	return http.NewResponseController(t.w).Flush()
}

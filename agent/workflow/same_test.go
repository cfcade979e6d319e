package workflow

import (
	"bytes"
	"sync"
	"testing"

	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent"
	"github.com/voicegw/voicegw/petri/event"
)

// TestReplay runs branches in real time, in one order or another, and replays what entered the net: with the same
// results at the same logical times, every event of the net is the same, whatever the scheduler did.
func TestReplay(t *testing.T) {
	for name, text := range map[string]string{
		"parallel": leaves("a", "b", "c", "d") + "orchestration: {type: parallel, agents: [a, b, c, d]}",
		"dag": leaves("a", "b", "c", "d") + "orchestration: {type: dag, nodes: [{agent: a}, {agent: b}, {agent: c, " +
			"depends_on: [a, b]}, {agent: d, depends_on: [b]}]}",
	} {
		t.Run(name, func(t *testing.T) {
			c := compiled(t, text)
			orders := map[string]bool{}
			for i := range 10 {
				var mu sync.Mutex
				order, b := "", make(chan struct{})
				w := &scripted{do: func(j *Job, _ int) (*Result, error) {
					if j.Agent.Name == "a" && i%2 > 0 {
						<-b
					}
					mu.Lock()
					defer mu.Unlock()
					if order += j.Agent.Name; j.Agent.Name == "b" {
						close(b)
					}
					return &Result{Output: j.Agent.Name}, nil
				}}
				p := c.Program(w)
				var archive bytes.Buffer
				store := event.NewArchive(&archive, c.Compiled(), event.ArchiveConfig{})
				s, err := agent.Start(p, agent.Options{Store: store})
				if err != nil {
					t.Fatal(err)
				}
				end, err := s.Run(t.Context(), &agent.Turn{ID: "t", Message: genai.NewContentFromText("hello", "user")})
				if err != nil || end.How != agent.Answered {
					t.Fatal(end, err)
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				orders[order] = true
				n, err := event.Replay(c.Compiled(), bytes.NewReader(archive.Bytes()))
				if err != nil || n < 20 {
					t.Fatalf("%d events are the same: %v", n, err)
				}
			}
			if len(orders) < 2 {
				t.Errorf("all runs had the order %v", orders)
			}
		})
	}
}

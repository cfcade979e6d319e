package sim_test

import (
	"context"
	"testing"

	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/live/sim"
)

func TestGreeting(t *testing.T) {
	s, err := sim.New(sim.Config{Speed: 100})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx := context.Background()
	c, err := live.Wire{BaseURL: s.URL(), APIKey: "k"}.Dial(ctx, live.Setup{})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Send(ctx, live.ClientMessage{Kind: live.ClientText, Text: "greet"}); err != nil {
		t.Fatal(err)
	}
	var m live.ServerMessage
	n := 0
	for {
		if err := c.Recv(ctx, &m); err != nil {
			t.Fatal(err)
		}
		if m.Kind == live.ServerAudio {
			n += len(m.PCM)
			continue
		}
		t.Log(m.Kind, m.Text, m.Usage, m.Handle, n)
		if m.Kind == live.ServerResumption && m.Resumable {
			break
		}
	}
	t.Log(c.Close(1000, "done"))
	s.Close()
	x := s.Connections()[0]
	t.Logf("%+v", x)
}

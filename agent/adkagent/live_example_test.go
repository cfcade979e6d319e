package adkagent_test

import (
	"context"
	"fmt"

	adk "google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/agent/adkagent"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/live/sim"
)

// The stock runner of ADK holds a live session with the embedded model.
func ExampleLive() {
	model, err := sim.New(sim.Config{Greeting: make([]int16, 24000), GreetingText: "How can I help?", Speed: 100})
	if err != nil {
		panic(err)
	}
	if err := model.Start("127.0.0.1:0"); err != nil {
		panic(err)
	}
	defer model.Close()
	agent, err := adkagent.NewLive(adkagent.LiveConfig{Name: "host",
		Gateway: voicegw.Config{Dialer: live.Wire{BaseURL: model.URL()}}})
	if err != nil {
		panic(err)
	}
	defer agent.Close()
	r, err := runner.NewInMemory("app", agent)
	if err != nil {
		panic(err)
	}
	session, events, err := r.RunLive(context.Background(), "user", "session", adk.LiveRunConfig{
		OutputAudioTranscription: &genai.AudioTranscriptionConfig{}})
	if err != nil {
		panic(err)
	}
	_ = session.Send(adk.LiveRequest{Content: genai.NewContentFromText("Hello!", genai.RoleUser)})
	for ev, err := range events {
		switch {
		case err != nil:
			fmt.Println(err)
		case ev.OutputTranscription != nil && !ev.Partial:
			fmt.Printf("%s: %s\n", ev.Author, ev.OutputTranscription.Text)
		case ev.TurnComplete:
			_ = session.Close()
		}
	}
	// Output: host: How can I help?
}

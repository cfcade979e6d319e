package adkagent

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	adk "google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/functiontool"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/audio/audiotest"
	"github.com/voicegw/voicegw/live/sim"
)

// longReply is eight seconds of speech.
func longReply() []int16 {
	words := audiotest.Resample(audiotest.Speech("question"), 24000).Samples
	var pcm []int16
	for len(pcm) < 8*24000 {
		pcm = append(pcm, words...)
	}
	return pcm
}

// TestLiveBargeIn speaks over a reply. The gateway tells the client at once to drop what it has; the
// client hears nothing more of that reply, and gets the next one.
func TestLiveBargeIn(t *testing.T) {
	p := livePlan{run: withTranscripts(),
		model: sim.Config{FixedReply: longReply(), Faults: sim.Faults{LateAudioChunks: 5}}}
	inBubble(t, p, func(w *liveWorld) {
		k := w.open(context.Background(), "s", nil)
		k.say("question", time.Second)
		k.until("audio", func(ev *session.Event) bool { return inline(ev) != nil })
		began := time.Now()
		k.say("german", time.Second)
		cut := k.until("a cut reply", func(ev *session.Event) bool { return ev.TurnComplete && ev.Interrupted })
		events := k.all()
		i := slices.IndexFunc(events, func(ev *session.Event) bool { return ev.Interrupted && ev.Partial })
		j := slices.Index(events, cut)
		if i < 0 || j < i || events[i].Timestamp.Sub(began) > time.Second {
			t.Fatalf("the clear is event %d, the end %d, after %v: %s", i, j, events[i].Timestamp.Sub(began), eventLines(events))
		}
		for _, ev := range events[i:j] {
			if inline(ev) != nil {
				t.Errorf("audio of the cut reply came after the clear: %s", eventLines(events))
				break
			}
		}
		heard, _ := cut.CustomMetadata["voicegw"].(map[string]any)["heard_ms"].(int64)
		if took := cut.Timestamp.Sub(events[i].Timestamp); heard < 100 || heard > 3000 || took > time.Second {
			t.Errorf("heard %d ms of the cut reply, which ended %v after the clear", heard, took)
		}
		k.until("the second reply", func(ev *session.Event) bool { return ev.TurnComplete && !ev.Interrupted })
		k.hangUp()
		if n := len(w.model.Connections()); n != 1 {
			t.Errorf("%d connections", n)
		}
	})
}

// TestLiveFalseBargeIn coughs over a reply, which goes on where it stopped.
func TestLiveFalseBargeIn(t *testing.T) {
	reply := longReply()[:5*24000]
	inBubble(t, livePlan{model: sim.Config{FixedReply: reply}, run: withTranscripts()}, func(w *liveWorld) {
		heard := newListener()
		k := w.open(context.Background(), "s", heard.take)
		k.say("question", time.Second)
		k.until("audio", func(ev *session.Event) bool { return inline(ev) != nil })
		k.stream(make([]int16, 16000))
		word := audiotest.Resample(audiotest.Speech("question"), 16000).Samples
		word = word[audiotest.FirstLoud(word, 16000):]
		k.stream(word[:200*16])
		k.stream(make([]int16, 2*16000))
		k.until("the end of the reply", func(ev *session.Event) bool { return ev.TurnComplete && !ev.Interrupted })
		k.hangUp()
		paused := slices.ContainsFunc(k.all(), func(ev *session.Event) bool { return ev.Interrupted && ev.Partial })
		if _, corr := audiotest.Align(reply, heard.played(time.Now())); !paused || corr < 0.9 {
			t.Errorf("paused %v, the reply was heard with a correlation of %.3f: %s", paused, corr, eventLines(k.all()))
		}
	})
}

// ear is a client that plays in real time what it gets, and drops it when it is interrupted.
type ear struct {
	pcm  []int16
	ends time.Time
}

func newListener() *ear { return &ear{} }

func (e *ear) take(ev *session.Event) {
	now := time.Now()
	switch b := inline(ev); {
	case ev.Interrupted:
		e.pcm = e.played(now)
		e.ends = now
	case b != nil:
		if e.ends.Before(now) {
			e.ends = now
		}
		e.pcm = append(e.pcm, sound([]*session.Event{ev})...)
		e.ends = e.ends.Add(time.Duration(len(b.Data)/2) * time.Second / 24000)
	}
}

// played is what was played by now.
func (e *ear) played(now time.Time) []int16 {
	left := max(0, int(e.ends.Sub(now)*24000/time.Second))
	return e.pcm[:max(0, len(e.pcm)-left)]
}

// TestLiveToolBarrier calls a tool while the transcript of the caller is open. The call is stored when
// the tool runs; its response is stored once; the model gets the result.
func TestLiveToolBarrier(t *testing.T) {
	var w *liveWorld
	var atRun []string
	sky := weather(t, func(_ adk.Context, in city) (map[string]any, error) {
		for _, ev := range w.stored("s") {
			atRun = append(atRun, eventLine(ev))
		}
		return map[string]any{"sky": "clear over " + in.City}, nil
	})
	inBubble(t, livePlan{model: sim.Config{CallerText: "How is the weather?", Scenario: scenario(t,
		`on turn 1: call weather {"city":"Berlin"}`)}, run: withTranscripts(), live: LiveConfig{Tools: []tool.Tool{sky}}},
		func(world *liveWorld) {
			w = world
			k := w.open(context.Background(), "s", func(ev *session.Event) {
				if callOf(ev) != nil {
					time.Sleep(300 * time.Millisecond) // the consumer is slow, the tool waits for it
					if len(atRun) > 0 {
						t.Error("the tool ran before the consumer had the event")
					}
				}
			})
			k.say("question", time.Second)
			k.until("the end of the turn", turnEnded)
			k.hangUp()
			want := []string{"user in:How is the weather?", "speaker call:weather"}
			if !slices.Equal(atRun, want) {
				t.Errorf("when the tool ran, the session had %q, want %q", atRun, want)
			}
			replies := w.model.Connections()[0].ToolReplies
			if len(replies) != 1 || !strings.Contains(replies[0].Response, "clear over Berlin") {
				t.Errorf("the model got %+v", replies)
			}
			responses := 0
			for _, ev := range w.stored("s") {
				if r := responseOf(ev); r != nil && r.Name == "weather" && r.Response["sky"] == "clear over Berlin" {
					responses++
				}
			}
			if responses != 1 {
				t.Errorf("%d responses are stored: %s", responses, eventLines(w.stored("s")))
			}
		})
}

// TestLiveToolCancelled cancels a call. The tool's context ends, and the call has one response.
func TestLiveToolCancelled(t *testing.T) {
	stopped := make(chan time.Duration, 1)
	slow := weather(t, func(ctx adk.Context, _ city) (map[string]any, error) {
		began := time.Now()
		<-ctx.Done()
		stopped <- time.Since(began)
		return map[string]any{"sky": "too late"}, nil
	})
	inBubble(t, livePlan{model: sim.Config{Scenario: scenario(t,
		"on turn 1: call weather {\"city\":\"Berlin\"}\non call 1 +300ms: cancel")}, run: withTranscripts(),
		live: LiveConfig{Tools: []tool.Tool{slow}}}, func(w *liveWorld) {
		k := w.open(context.Background(), "s", nil)
		k.say("question", time.Second)
		k.until("the response", func(ev *session.Event) bool { return responseOf(ev) != nil })
		if took := <-stopped; took > 2*time.Second {
			t.Errorf("the tool was stopped after %v", took)
		}
		time.Sleep(5 * time.Second)
		k.hangUp()
		checkCalls(t, k.all(), 1)
		if n := len(w.model.Connections()[0].ToolReplies); n != 0 {
			t.Errorf("the model got %d results of a call that it cancelled", n)
		}
	})
}

// TestLiveToolAtTheEnd hangs up while a tool runs.
func TestLiveToolAtTheEnd(t *testing.T) {
	slow := weather(t, func(ctx adk.Context, _ city) (map[string]any, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	inBubble(t, livePlan{model: sim.Config{Scenario: scenario(t, `on turn 1: call weather {"city":"Berlin"}`)},
		run: withTranscripts(), live: LiveConfig{Tools: []tool.Tool{slow}}}, func(w *liveWorld) {
		k := w.open(context.Background(), "s", nil)
		k.say("question", time.Second)
		k.until("the call", func(ev *session.Event) bool { return callOf(ev) != nil })
		time.Sleep(time.Second)
		k.hangUp()
		checkCalls(t, w.stored("s"), 1)
	})
}

// checkCalls checks that each call has exactly one response, behind it.
func checkCalls(t *testing.T, events []*session.Event, want int) {
	t.Helper()
	open, n := map[string]bool{}, 0
	for _, ev := range events {
		if c := callOf(ev); c != nil {
			open[c.ID] = true
			n++
		}
		if r := responseOf(ev); r != nil {
			if !open[r.ID] {
				t.Errorf("a response without a call: %s", eventLines(events))
			}
			delete(open, r.ID)
		}
	}
	if len(open) > 0 || n != want {
		t.Errorf("%d calls, %d of them without a response, want %d and 0: %s", n, len(open), want, eventLines(events))
	}
}

// TestLiveLongRunningTool answers a call later, with a request of the application.
func TestLiveLongRunningTool(t *testing.T) {
	approve, err := functiontool.New(
		functiontool.Config{Name: "weather", Description: "asks somebody", IsLongRunning: true},
		func(adk.Context, city) (map[string]any, error) { return nil, nil })
	if err != nil {
		t.Fatal(err)
	}
	inBubble(t, livePlan{model: sim.Config{Scenario: scenario(t, `on turn 1: call weather {"city":"Berlin"}`)},
		run: withTranscripts(), live: LiveConfig{Tools: []tool.Tool{approve}}}, func(w *liveWorld) {
		k := w.open(context.Background(), "s", nil)
		k.say("question", time.Second)
		ev := k.until("the call", func(ev *session.Event) bool { return callOf(ev) != nil })
		if !slices.Equal(ev.LongRunningToolIDs, []string{callOf(ev).ID}) {
			t.Errorf("long-running are %q", ev.LongRunningToolIDs)
		}
		answer := func(id string) error {
			return k.sess.Send(adk.LiveRequest{Content: &genai.Content{Role: genai.RoleUser, Parts: []*genai.Part{{
				FunctionResponse: &genai.FunctionResponse{ID: id, Name: "weather", Response: map[string]any{"sky": "grey"}}}}}})
		}
		time.Sleep(time.Second)
		if err := answer("another"); err == nil || !strings.Contains(err.Error(), `"another"`) {
			t.Errorf("the response to an unknown call: %v", err)
		}
		if err := answer(callOf(ev).ID); err != nil {
			t.Fatal(err)
		}
		k.until("the end of the turn", turnEnded)
		k.hangUp()
		checkCalls(t, w.stored("s"), 1)
		if r := w.model.Connections()[0].ToolReplies; len(r) != 1 || !strings.Contains(r[0].Response, "grey") {
			t.Errorf("the model got %+v", r)
		}
	})
}

// TestLiveText types. The runner stores the text; the model replies to it.
func TestLiveText(t *testing.T) {
	inBubble(t, livePlan{model: sim.Config{GreetingText: "Hello there."}, run: withTranscripts()}, func(w *liveWorld) {
		k := w.open(context.Background(), "s", nil)
		k.send(typed("Good morning."))
		k.until("the end of the turn", turnEnded)
		k.hangUp()
		if got := w.model.Connections()[0].Texts; len(got) != 1 || got[0].Text != "Good morning." {
			t.Errorf("the model read %+v", got)
		}
		stored := w.stored("s")
		if len(stored) != 3 || stored[0].Author != "user" || stored[0].Content == nil ||
			stored[1].OutputTranscription == nil {
			t.Errorf("stored: %s", eventLines(stored))
		}
	})
}

// TestLivePush speaks with a talk button: ADK's manual activity.
func TestLivePush(t *testing.T) {
	run := withTranscripts()
	run.RealtimeInputConfig = &genai.RealtimeInputConfig{
		AutomaticActivityDetection: &genai.AutomaticActivityDetection{Disabled: true}}
	inBubble(t, livePlan{run: run}, func(w *liveWorld) {
		k := w.open(context.Background(), "s", nil)
		k.say("question", time.Second) // nobody listens
		k.send(adk.LiveRequest{RealtimeInput: &genai.ActivityStart{}})
		k.say("german", 0)
		k.send(adk.LiveRequest{RealtimeInput: &genai.ActivityEnd{}})
		k.until("the end of the turn", turnEnded)
		k.hangUp()
		spoken := audiotest.Resample(audiotest.Speech("german"), 24000).Samples
		_, corr := audiotest.Align(spoken, sound(k.all()))
		if n := len(w.model.Connections()[0].Turns); n != 1 || corr < 0.98 {
			t.Errorf("%d turns, the reply correlates by %.3f", n, corr)
		}
	})
}

// TestLiveRepliesMax ends the call at LiveRunConfig.MaxLLMCalls.
func TestLiveRepliesMax(t *testing.T) {
	run := withTranscripts()
	run.MaxLLMCalls = 1
	inBubble(t, livePlan{run: run}, func(w *liveWorld) {
		k := w.open(context.Background(), "s", nil)
		k.send(typed("One."))
		k.until("the end of the turn", turnEnded)
		before := len(sound(k.all()))
		k.send(typed("Two."))
		<-k.done
		last := k.until("the error", func(ev *session.Event) bool { return ev.ErrorCode == "max_llm_calls" })
		if !strings.Contains(last.ErrorMessage, "1 replies") || len(sound(k.all())) != before {
			t.Errorf("%q, %d samples behind the bound", last.ErrorMessage, len(sound(k.all()))-before)
		}
		if err := k.sess.Send(typed("Three.")); !errors.Is(err, ErrLiveClosed) {
			t.Errorf("Send after the end: %v", err)
		}
	})
}

// TestLiveTwoSessions holds two calls in one session of ADK. Each application gets its own events.
func TestLiveTwoSessions(t *testing.T) {
	inBubble(t, livePlan{run: withTranscripts()}, func(w *liveWorld) {
		one, two := w.open(context.Background(), "s", nil), w.open(context.Background(), "s", nil)
		one.send(typed("One."))
		two.send(typed("Two."))
		one.until("the end of the turn", turnEnded)
		two.until("the end of the turn", turnEnded)
		one.hangUp()
		two.hangUp()
		for _, k := range []*talk{one, two} {
			ids := map[string]bool{}
			for _, ev := range k.all() {
				ids[ev.InvocationID] = true
			}
			if len(ids) != 1 {
				t.Errorf("events of %d invocations", len(ids))
			}
		}
		if a, b := one.all()[0].InvocationID, two.all()[0].InvocationID; a == b {
			t.Errorf("both invocations are %s", a)
		}
		if n := len(w.stored("s")); n != 6 { // a text, a transcript and the end of a turn each
			t.Errorf("%d events are stored: %s", n, eventLines(w.stored("s")))
		}
	})
}

// TestLiveTwice reads the events of a session twice.
func TestLiveTwice(t *testing.T) {
	inBubble(t, livePlan{run: withTranscripts()}, func(w *liveWorld) {
		sess, events, err := w.runner.RunLive(context.Background(), "user", "s", w.run)
		if err != nil {
			t.Fatal(err)
		}
		for range events {
			break // the consumer leaves at once
		}
		for _, err := range events {
			if !errors.Is(err, errLiveTwice) {
				t.Errorf("the second time: %v", err)
			}
		}
		if err := sess.Send(typed("Hello.")); !errors.Is(err, ErrLiveClosed) {
			t.Errorf("Send after the end: %v", err)
		}
	})
}

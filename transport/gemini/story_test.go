package gemini_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/internal/clienttest"
	"github.com/voicegw/voicegw/internal/endpointtest"
	"github.com/voicegw/voicegw/internal/npmtest"
)

// called waits until the client is asked to call a function, and returns the id.
func called(t *testing.T, c *npmtest.Program, name, city string) (id string) {
	t.Helper()
	var m struct {
		FunctionCalls []struct {
			ID, Name string
			Args     struct{ City string }
		}
	}
	e := c.AwaitType("toolCall")
	if err := json.Unmarshal(e.Data, &m); err != nil || len(m.FunctionCalls) != 1 || m.FunctionCalls[0].Name != name ||
		m.FunctionCalls[0].Args.City != city || m.FunctionCalls[0].ID == "" {
		t.Fatalf("the client is asked %s (%v), want %s of %s", e.Data, err, name, city)
	}
	return m.FunctionCalls[0].ID
}

// answer is what the client answers to calls of weather.
func answer(id string, response map[string]any) npmtest.Command {
	return npmtest.Command{"do": "tool", "responses": []any{map[string]any{"id": id, "name": "weather",
		"response": response}}}
}

// spoken waits until the model says words, and for the end of its turn.
func spoken(c *npmtest.Program, words string) {
	said := ""
	c.Await("the model says "+words, func(e npmtest.Event) bool {
		if e.Type == "outputTranscription" {
			said += e.Text
		}
		return strings.Contains(said, words)
	})
	c.AwaitType("turnComplete")
}

// TestClientCallsFunctions writes with both methods of @google/genai; the model calls functions of
// the client, which returns a value, then an error, then an object of its own making. What the
// model says of them is heard.
func TestClientCallsFunctions(t *testing.T) { inVersions(t, callsFunctions) }

func callsFunctions(t *testing.T, version string) {
	w := open(t, endpointtest.Asking(t, `on text 1: call weather {"city":"Oslo"}`,
		`on text 2: call weather {"city":"Bergen"}`,
		`on text 3: call weather {"city":"Hamar"}`))
	c := clientOf(t, w, version, plain)
	c.Do(npmtest.Command{"do": "realtimeText", "text": "What is the weather in Oslo?"})
	id := called(t, c, "weather", "Oslo")
	w.Read("What is the weather in Oslo?")
	c.Do(answer("of nobody", map[string]any{"output": 1}))
	c.Do(answer(id, map[string]any{"output": map[string]any{"celsius": 21.5}}))
	c.AwaitType("audio")
	spoken(c, "21.5")
	c.Do(npmtest.Command{"do": "text", "text": "And in Bergen?"})
	c.Do(answer(called(t, c, "weather", "Bergen"), map[string]any{"error": "there is no station"}))
	spoken(c, "no station")
	w.Read("And in Bergen?")
	c.Do(npmtest.Command{"do": "text", "text": "And in Hamar?"})
	c.Do(answer(called(t, c, "weather", "Hamar"), map[string]any{"celsius": 3, "wind": "north"}))
	spoken(c, "north")
	c.Do(npmtest.Bye())
	c.AwaitType("close")
	c.Wait()
	got := w.Results(3)
	for i, want := range []string{`{"output":{"celsius":21.5}}`, `{"error":"there is no station"}`,
		`{"output":{"celsius":3,"wind":"north"}}`} {
		if len(got) != 3 || got[i] != want {
			t.Errorf("the model got %v, want %s and no fourth", got, want)
		}
	}
	clienttest.Shows(t, version, clienttest.Text, clienttest.Tools)
}

// TestFunctionIsCancelled: the client is told that nobody waits for its result any more, and what
// it sends all the same goes nowhere.
func TestFunctionIsCancelled(t *testing.T) {
	t.Parallel()
	w := open(t, endpointtest.Asking(t, `on text 1: call weather {"city":"Oslo"}`,
		`on call 1 +300ms: cancel`))
	c := client(t, w, plain)
	c.Do(npmtest.Command{"do": "realtimeText", "text": "What is the weather in Oslo?"})
	id := called(t, c, "weather", "Oslo")
	if e := c.AwaitType("toolCallCancellation"); !strings.Contains(string(e.Data), id) {
		t.Errorf("cancelled is %s, want %s", e.Data, id)
	}
	c.Do(answer(id, map[string]any{"output": 1}))
	c.Do(npmtest.Command{"do": "realtimeText", "text": "Never mind."})
	c.AwaitType("turnComplete")
	w.Read("Never mind.")
	c.Do(npmtest.Bye())
	c.AwaitType("close")
	c.Wait()
	if got := w.Connection().ToolReplies; len(got) != 0 {
		t.Errorf("the model got %v of a call it had cancelled", got)
	}
}

// TestHandedOff: a call that somebody else takes ends for the client, in words.
func TestHandedOff(t *testing.T) {
	t.Parallel()
	p := endpointtest.Plan{}
	sessions := p.Sessions()
	w := open(t, p)
	c := client(t, w, plain)
	if err := (<-sessions).HandOff("+4930123"); err != nil {
		t.Fatal(err)
	}
	if e := c.AwaitType("close"); e.Code != 1000 || e.Text == "" {
		t.Errorf("closed with %d %q", e.Code, e.Text)
	}
	c.Wait()
}

// TestClientLetsKnow sends content without turnComplete: the model learns it and does not answer.
// With turnComplete it answers, and the client gets the tokens of the turn.
func TestClientLetsKnow(t *testing.T) {
	t.Parallel()
	p := endpointtest.Asking(t)
	p.Gateway.Setup.Model = "gemini-2.5-flash-native-audio-latest" // takes content in a call
	w := open(t, p)
	c := client(t, w, plain)
	turn := func(role, text string) any {
		return map[string]any{"role": role, "parts": []any{map[string]any{"text": text}}}
	}
	c.Do(npmtest.Command{"do": "content", "complete": false,
		"turns": []any{turn("user", "The taxi comes at five."), turn("model", "I know.")}})
	w.Read("I know.")
	for _, text := range w.Connection().Texts {
		if text.Kind != "content" || text.Role == "user" != (text.Text == "The taxi comes at five.") {
			t.Errorf("the model got %+v", text)
		}
	}
	c.Do(npmtest.Command{"do": "content", "complete": true, "turns": []any{turn("user", "When does it come?")}})
	c.AwaitType("audio")
	w.Read("When does it come?")
	var usage struct {
		ResponseTokenCount    int
		ResponseTokensDetails []struct {
			Modality   string
			TokenCount int
		}
	}
	e := c.AwaitType("usage")
	if err := json.Unmarshal(e.Data, &usage); err != nil || usage.ResponseTokenCount == 0 ||
		len(usage.ResponseTokensDetails) != 1 || usage.ResponseTokensDetails[0].Modality != "AUDIO" {
		t.Errorf("the turn cost %s, %v", e.Data, err)
	}
	if n := len(w.Connection().Texts); n != 3 {
		t.Errorf("the model got %d texts", n)
	}
	c.Do(npmtest.Bye())
	c.AwaitType("close")
	c.Wait()
}

// TestClientSchedules answers a call of a NON_BLOCKING function and says when the model shall speak
// about the result. A model that takes no scheduling gets the result without it, and the client is
// warned.
func TestClientSchedules(t *testing.T) {
	for model, want := range map[string]string{"gemini-3.8-live": "SILENT", "gemini-3.8-live-extended-thinking": ""} {
		t.Run(model, func(t *testing.T) {
			t.Parallel()
			p := endpointtest.Asking(t, `on text 1: call order {"what":"a taxi"}`)
			p.Gateway.Tools, p.Gateway.Setup.Model = nil, model
			p.Gateway.Session.Tools.All = true
			w := open(t, p)
			c := client(t, w, `{"responseModalities":["AUDIO"],"tools":[{"functionDeclarations":[{"name":"order",`+
				`"behavior":"NON_BLOCKING","parameters":{"type":"OBJECT","properties":{"what":{"type":"STRING"}}}}]}]}`)
			c.Do(npmtest.Command{"do": "realtimeText", "text": "Order a taxi."})
			var m struct{ FunctionCalls []struct{ ID string } }
			e := c.AwaitType("toolCall")
			if err := json.Unmarshal(e.Data, &m); err != nil || len(m.FunctionCalls) != 1 {
				t.Fatalf("%v: %s", err, e.Data)
			}
			c.Do(npmtest.Command{"do": "tool", "responses": []any{map[string]any{"id": m.FunctionCalls[0].ID,
				"name": "order", "response": map[string]any{"output": "done"}, "scheduling": "SILENT"}}})
			w.Eventually("the model has the result", func() bool { return len(w.Connection().ToolReplies) > 0 })
			if got := w.Connection().ToolReplies[0].Scheduling; got != want {
				t.Errorf("the model got the result as %q, want %q", got, want)
			}
			if want == "" {
				if e := c.AwaitType("warnings"); !strings.Contains(e.Text, "takes no scheduling") {
					t.Errorf("warned of %s", e.Text)
				}
			}
			c.Do(npmtest.Bye())
			c.AwaitType("close")
			c.Wait()
		})
	}
}

// TestClientReconnects: the connection of @google/genai breaks in the middle of a reply, and is closed
// in an orderly way later. Each time the client goes on with its call, as its handle says.
func TestClientReconnects(t *testing.T) { inVersions(t, reconnects) }

func reconnects(t *testing.T, version string) {
	w := open(t, endpointtest.Plan{Model: endpointtest.LongReplies()})
	c := clientOf(t, w, version, `{"responseModalities":["AUDIO"],"sessionResumption":{}}`)
	c.Do(npmtest.Command{"do": "realtimeText", "text": "Hello."})
	c.AwaitType("audio")
	for _, breaks := range []bool{true, false} {
		c.Do(npmtest.Command{"do": "reconnect", "break": breaks})
		c.AwaitType("setupComplete")
		c.AwaitType("audio") // of the rest of the reply
	}
	c.AwaitType("turnComplete")
	c.Do(npmtest.Command{"do": "realtimeText", "text": "And now?"})
	w.Read("And now?")
	c.AwaitType("audio")
	if n, calls := len(w.Model.Connections()), w.Gateway.Calls(); n != 1 || calls != 1 {
		t.Errorf("%d calls run, with %d connections to the model", calls, n)
	}
	c.Do(npmtest.Command{"do": "reconnect", "break": true, "handle": "of nobody"})
	c.Await("the refusal", func(e npmtest.Event) bool {
		return e.Type == "close" && e.Code == 1008 && strings.Contains(e.Text, "sessionResumption.handle: there is no call")
	})
	setups := map[string]int{}
	for _, e := range c.Events() {
		if e.Type == "setupComplete" {
			setups[string(e.Data)]++
		}
	}
	for call, n := range setups {
		if len(setups) != 1 || n != 3 {
			t.Errorf("%d of the setups were of the call %s, want all three", n, call)
		}
	}
	clienttest.Shows(t, version, clienttest.Reconnect)
}

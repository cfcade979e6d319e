package openai_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/internal/clienttest"
	"github.com/voicegw/voicegw/internal/endpointtest"
	"github.com/voicegw/voicegw/internal/npmtest"
)

// send makes the client send an event.
func send(event map[string]any) npmtest.Command { return npmtest.Command{"do": "send", "event": event} }

// item makes the client add an item to the conversation.
func item(fields map[string]any) npmtest.Command {
	return send(map[string]any{"type": "conversation.item.create", "item": fields})
}

// written makes the client write something, and have it answered.
func written(c *npmtest.Program, text string) {
	c.Do(item(map[string]any{"type": "message", "role": "user",
		"content": []any{map[string]any{"type": "input_text", "text": text}}}))
	c.Do(send(map[string]any{"type": "response.create"}))
}

// called waits for the arguments of a function call and for the end of its response, and returns
// the call's id.
func called(t *testing.T, c *npmtest.Program, arguments string) (id string) {
	t.Helper()
	var m struct {
		CallID    string `json:"call_id"`
		Name      string
		Arguments string
	}
	e := c.AwaitType("response.function_call_arguments.done")
	if err := json.Unmarshal(e.Data, &m); err != nil || m.Name != "weather" || m.Arguments != arguments || m.CallID == "" {
		t.Fatalf("the client is asked %s (%v), want weather of %s", e.Data, err, arguments)
	}
	if e := c.AwaitType("response.done"); !strings.Contains(string(e.Data), `"function_call"`) ||
		!strings.Contains(string(e.Data), m.CallID) {
		t.Errorf("the response with the call is done as %s", e.Data)
	}
	return m.CallID
}

// answered makes the client answer a call, and have the answer spoken of; words are in what is said
// then.
func answered(c *npmtest.Program, id, output, words string) {
	c.Do(item(map[string]any{"type": "function_call_output", "call_id": id, "output": output}))
	c.Do(send(map[string]any{"type": "response.create"}))
	c.AwaitType("audio")
	c.Await("a transcript with "+words, func(e npmtest.Event) bool {
		beta := e.Type == "response.audio_transcript.done"
		return (beta || e.Type == "response.output_audio_transcript.done") && strings.Contains(e.Text, words)
	})
	c.AwaitType("response.done")
}

// TestClientCallsFunctions writes with OpenAI's client; the model calls functions of the client,
// which returns JSON and then words. What the model says of them is heard. Results of calls that
// nobody made are answered by an error.
func TestClientCallsFunctions(t *testing.T) {
	t.Parallel()
	callsFunctions(t, "openai", "openai", "")
}

// TestBetaCallsFunctions is the same with the client of the API's beta.
func TestBetaCallsFunctions(t *testing.T) {
	t.Parallel()
	callsFunctions(t, "openai/beta", "openai", "yes")
}

func TestOlderCallsFunctions(t *testing.T) {
	older(t)
	callsFunctions(t, "openai-6", "openai-6", "")
}

func callsFunctions(t *testing.T, id, pkg, beta string) {
	w := open(t, endpointtest.Asking(t, `on text 1: call weather {"city":"Oslo"}`,
		`on text 2: call weather {"city":"Bergen"}`))
	c := sdk(t, w, pkg, beta, plain)
	c.AwaitType("session.updated")
	written(c, "What is the weather in Oslo?")
	oslo := called(t, c, `{"city":"Oslo"}`)
	w.Read("What is the weather in Oslo?")
	c.Do(item(map[string]any{"type": "function_call_output", "call_id": "of nobody", "output": "{}"}))
	c.Await("an error", func(e npmtest.Event) bool { return e.Type == "error" && strings.Contains(e.Raw, "no_tool_call") })
	answered(c, oslo, `{"celsius":21.5}`, "21.5")
	written(c, "And in Bergen?")
	answered(c, called(t, c, `{"city":"Bergen"}`), "It rains there.", "It rains there.")
	c.Do(npmtest.Bye())
	c.AwaitType("close")
	c.Wait()
	got := w.Results(2)
	if len(got) != 2 || got[0] != `{"output":{"celsius":21.5}}` || got[1] != `{"output":"It rains there."}` {
		t.Errorf("the model got %v", got)
	}
	clienttest.Shows(t, id, clienttest.Text, clienttest.Tools)
}

// TestSpokenFunctionCall is asked for by voice: the call is a response of its own between what was
// said and the answer.
func TestSpokenFunctionCall(t *testing.T) {
	t.Parallel()
	w := open(t, endpointtest.Asking(t, `on turn 1: call weather {"city":"Oslo"}`))
	c := client(t, w, plain)
	c.AwaitType("session.updated")
	c.Do(npmtest.Say(endpointtest.SpeechFile(t, "question")))
	c.AwaitType("input_audio_buffer.committed")
	answered(c, called(t, c, `{"city":"Oslo"}`), `{"celsius":21.5}`, "21.5")
	c.Do(npmtest.Bye())
	c.AwaitType("close")
	c.Wait()
}

// TestHandedOff: a call that somebody else takes ends for the client, in words.
func TestHandedOff(t *testing.T) {
	t.Parallel()
	p := endpointtest.Plan{}
	sessions := p.Sessions()
	w := open(t, p)
	c := client(t, w, plain)
	c.AwaitType("session.updated")
	if err := (<-sessions).HandOff("+4930123"); err != nil {
		t.Fatal(err)
	}
	if e := c.AwaitType("close"); e.Code != 1000 || e.Text == "" {
		t.Errorf("closed with %d %q", e.Code, e.Text)
	}
	c.Wait()
}

// TestClientLetsKnow has the model know items of the roles system and assistant, which it does not
// answer, with OpenAI's client; then it speaks following instructions, and the response has tokens.
func TestClientLetsKnow(t *testing.T) {
	t.Parallel()
	w := open(t, endpointtest.Asking(t))
	c := client(t, w, plain)
	c.AwaitType("session.updated")
	for _, it := range [][3]string{{"system", "input_text", "The taxi comes at five."},
		{"assistant", "output_text", "I ordered a taxi."}} {
		c.Do(item(map[string]any{"type": "message", "role": it[0],
			"content": []any{map[string]any{"type": it[1], "text": it[2]}}}))
		c.AwaitType("conversation.item.done")
	}
	c.Do(send(map[string]any{"type": "response.create", "response": map[string]any{"instructions": "Say when."}}))
	c.AwaitType("audio")
	done := c.AwaitType("response.done")
	var m struct {
		Response struct {
			Usage struct {
				Total  int `json:"total_tokens"`
				Output int `json:"output_tokens"`
				Out    struct {
					Audio int `json:"audio_tokens"`
				} `json:"output_token_details"`
			}
		}
	}
	if err := json.Unmarshal(done.Data, &m); err != nil || m.Response.Usage.Output == 0 ||
		m.Response.Usage.Out.Audio != m.Response.Usage.Output {
		t.Errorf("the response cost %+v, %v", m.Response.Usage, err)
	}
	for _, words := range []string{"The taxi comes at five.", "I ordered a taxi.", "Say when."} {
		w.Read(words)
	}
	if n := len(w.Connection().Texts); n != 1 {
		t.Errorf("the model was asked %d times", n)
	}
	c.Do(npmtest.Bye())
	c.AwaitType("close")
	c.Wait()
}

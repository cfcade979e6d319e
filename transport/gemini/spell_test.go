package gemini

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"google.golang.org/genai"

	"github.com/voicegw/voicegw/internal/jsonscan"
)

// TestSpell rewrites setups of all spellings. The names in a schema belong to the client.
func TestSpell(t *testing.T) {
	for _, tt := range []struct{ in, want, noted string }{
		{` { "setup" : { "model" : "m" } } `, `{"setup":{"model":"m"}}`, ""},
		{`{"setup":{"generation_config":{"responseModalities":["AUDIO"],"speech_config":{"language_code":"de"}}}}`,
			`{"setup":{"generationConfig":{"responseModalities":["AUDIO"],"speechConfig":{"languageCode":"de"}}}}`, ""},
		{`{"setup":null,"realtime_input":{"activity_start":{},"audio":null}}`, `{"realtimeInput":{"activityStart":{}}}`, ""},
		{`{"setup":{"generationConfig":{"top_k":1,"topP":null,"enableAffectiveDialog":false}}}`,
			`{"setup":{"generationConfig":{}}}`, "setup.generationConfig.topK"},
		{`{"setup":{"x":[{"y":"}"}],"model":"m","5500005555555559":"\"","a-b":1}}`, `{"setup":{"model":"m"}}`,
			"setup.x setup.(a name of 16 bytes) setup.(a name of 3 bytes)"},
		{`{"setup":{"system_instruction":{"parts":[{"text":"a \"b\\"},null,{"inline_data":{"data":"eA=="}}]}}}`,
			`{"setup":{"systemInstruction":{"parts":[{"text":"a \"b\\"},null,{}]}}}`,
			"setup.systemInstruction.parts.inlineData"},
		{`{"setup":{"tools":[{"function_declarations":[{"name":"f","new_field":[1],"parameters":{"any_of":[` +
			`{"min_length":1}],"properties":{"min_length":{"type":"STRING","max_length":2,"properties":{"any_of":{}}}}},` +
			`"parameters_json_schema":{"min_length":1}}]},{"google_search":{"exclude_domains":["x"]}}]}}`,
			`{"setup":{"tools":[{"functionDeclarations":[{"name":"f","parameters":{"anyOf":[{"minLength":1}],` +
				`"properties":{"min_length":{"type":"STRING","maxLength":2,"properties":{"any_of":{}}}}},` +
				`"parametersJsonSchema":{"min_length":1}}]},{}]}}`,
			"setup.tools.functionDeclarations.new_field setup.tools.googleSearch"},
		{`{"toolResponse":{"functionResponses":[{"id":"a","response":{"turn_complete":{"will_continue":1}}}]}}`,
			`{"toolResponse":{"functionResponses":[{"id":"a","response":{"turn_complete":{"will_continue":1}}}]}}`, ""},
		{`{"\u0073etup":{}}`, `{"setup":{}}`, ""},
		{`{"Setup":{}}`, `{}`, "Setup"},
		{`{"setup":1,"tools":[]}`, `{"setup":1}`, "tools"},
		{`{}`, `{}`, ""},
	} {
		var n notes
		got, err := spell([]byte(tt.in), messageShape(), &n)
		var noted []string
		for _, note := range n.take() {
			field, _, _ := strings.Cut(note, ": ")
			noted = append(noted, field)
		}
		if err != nil || string(got) != tt.want || strings.Join(noted, " ") != tt.noted {
			t.Errorf("%s: %s, noted %q, %v; want %s, noted %q", tt.in, got, noted, err, tt.want, tt.noted)
		}
	}
}

// TestEveryFieldIsKnown wants the fields of Google's Go SDK to be known: a field that the gateway
// does not know is one that Google does not have either.
func TestEveryFieldIsKnown(t *testing.T) {
	setup := messageShape().fields["setup"].shape
	config, input := setup.fields["generationConfig"].shape, setup.fields["realtimeInputConfig"].shape
	speech := config.fields["speechConfig"].shape
	turn := setup.fields["systemInstruction"].shape
	tool := setup.fields["tools"].shape
	declaration := tool.fields["functionDeclarations"].shape
	realtime, responses := messageShape().fields["realtimeInput"].shape, messageShape().fields["toolResponse"].shape
	for _, k := range []struct {
		shape  *shape
		of     any
		except string // names of its own, or with one spelling in an open shape
	}{
		{messageShape(), genai.LiveClientMessage{}, ""},
		{setup, genai.LiveClientSetup{}, ""},
		{config, genai.GenerationConfig{}, ""},
		{speech, genai.SpeechConfig{}, ""},
		{speech.fields["voiceConfig"].shape, genai.VoiceConfig{}, ""},
		{input, genai.RealtimeInputConfig{}, ""},
		{input.fields["automaticActivityDetection"].shape, genai.AutomaticActivityDetection{}, ""},
		{setup.fields["sessionResumption"].shape, genai.SessionResumptionConfig{}, ""},
		{setup.fields["inputAudioTranscription"].shape, genai.AudioTranscriptionConfig{}, ""},
		{tool, genai.Tool{}, ""},
		{declaration, genai.FunctionDeclaration{}, ""},
		{declaration.fields["parameters"].shape, genai.Schema{}, "default description enum example format maximum minimum " +
			"nullable pattern required title type"},
		{realtime, genai.LiveClientRealtimeInput{}, ""},
		{realtime, genai.LiveSendRealtimeInputParameters{}, "media"},
		{realtime.fields["audio"].shape, genai.Blob{}, ""},
		{messageShape().fields["clientContent"].shape, genai.LiveClientContent{}, ""},
		{turn, genai.Content{}, ""},
		{turn.fields["parts"].shape, genai.Part{}, ""},
		{responses.fields["functionResponses"].shape, genai.FunctionResponse{}, ""},
	} {
		if k.shape.count > 64 {
			t.Errorf("%T: %d fields", k.of, k.shape.count)
		}
		for i, typ := 0, reflect.TypeOf(k.of); i < typ.NumField(); i++ {
			name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
			if name != "-" && k.shape.fields[name] == nil && !strings.Contains(" "+k.except+" ", " "+name+" ") {
				t.Errorf("%T: %s is not known", k.of, name)
			}
		}
	}
}

// TestNotesEnd: a client that makes up names is told of some.
func TestNotesEnd(t *testing.T) {
	var n notes
	for i := range 100 {
		n.add("setup."+strings.Repeat("x", i+1), "why")
	}
	n.add("setup.x", "why")
	if got := n.take(); len(got) != notesMax+1 || !strings.Contains(got[notesMax], "first 32") || len(n.take()) != 0 {
		t.Errorf("%d notes, the last is %q", len(got), got[len(got)-1])
	}
}

// TestSpellerEnds: a speller that reads what is not JSON reports it and ends.
func TestSpellerEnds(t *testing.T) {
	for _, in := range []string{"", "{", `{"setup"`, `{"setup":`, `{"setup":{"model":"`, `{"setup":[`, "[}",
		`{"setup":[}`} {
		sp := speller{src: jsonscan.New([]byte(in)), notes: &notes{}}
		if sp.value(messageShape()); !sp.broken {
			t.Errorf("%q is read as %q", in, sp.dst)
		}
	}
}

// FuzzSpell compares with encoding/json: what is left of a message is in it, and it is JSON.
func FuzzSpell(f *testing.F) {
	f.Add([]byte(`{"setup":{"tools":[{"function_declarations":[{"parameters":{"any_of":[{"min_length":1}]}}]}],` +
		`"x":{"a":"}"}}}`))
	f.Add([]byte(` { "realtime_input" : { "audio" : { "data" : "\"" , "mime_type" : null } } , "y" : [ [ ] , -1e3 ] } `))
	f.Fuzz(func(t *testing.T, b []byte) {
		cut := speller{src: jsonscan.New(b), notes: &notes{}} // must end, whatever b is
		cut.value(messageShape())
		var n notes
		got, err := spell(b, messageShape(), &n)
		if err != nil {
			return
		}
		if !json.Valid(got) || len(got) > len(b) {
			t.Fatalf("%s from %s", got, b)
		}
		again, err := spell(got, messageShape(), &notes{})
		if err != nil || string(again) != string(got) {
			t.Fatalf("%s, then %s, %v", got, again, err)
		}
	})
}

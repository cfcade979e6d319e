package live

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// TestAbilities knows a model by its prefix, whatever stands in front of the name.
func TestAbilities(t *testing.T) {
	every := abilities{blocking: true, nonBlocking: true, scheduling: true, content: true}
	for model, want := range map[string]abilities{
		"":                                      every,
		"parrot":                                every,
		"gemini-2.5-flash-native-audio-preview": every,
		DefaultModel:                            {blocking: true, announceHistory: true},
		"models/gemini-3.1-flash-live":          {blocking: true, announceHistory: true},
		"projects/p/locations/l/publishers/google/models/gemini-3.8-live-extended-thinking-001": {nonBlocking: true,
			announceHistory: true},
		"gemini-3.8-live": {blocking: true, nonBlocking: true, scheduling: true, declareBlocking: true,
			announceHistory: true},
	} {
		if got := abilitiesOf(model); got != want {
			t.Errorf("%s: %+v; want %+v", model, got, want)
		}
	}
	families := families()
	for i, f := range families {
		for _, later := range families[i+1:] {
			if strings.HasPrefix(later.prefix, f.prefix) {
				t.Errorf("%s hides %s", f.prefix, later.prefix)
			}
		}
	}
}

// TestSetupByModel sends each model what it takes, and refuses the rest before anything is sent.
func TestSetupByModel(t *testing.T) {
	tools := func(nonBlocking bool) []Tool { return []Tool{{Name: "f", NonBlocking: nonBlocking}} }
	history := []Turn{{"user", "Hi."}, {"model", "Hello."}}
	tests := []struct {
		setup Setup
		field string // of the refusal; "" for none
		part  string // of the message
		said  bool   // whether history ends with turn complete
	}{
		{Setup{Tools: tools(false)}, "", `"functionDeclarations":[{"name":"f"}]`, false},
		{Setup{Tools: tools(true)}, "", `"behavior":"NON_BLOCKING"`, false},
		{Setup{Model: "gemini-3.8-live", Tools: tools(false)}, "", `"behavior":"BLOCKING"`, true},
		{Setup{Model: "gemini-3.8-live", Tools: tools(true)}, "", `"behavior":"NON_BLOCKING"`, true},
		{Setup{Model: DefaultModel, Tools: tools(true)}, "Setup.Tools[0].NonBlocking", "", true},
		{Setup{Model: "gemini-3.8-live-extended-thinking", Tools: tools(false)}, "Setup.Tools[0].NonBlocking", "", true},
		{Setup{Model: DefaultModel, History: history}, "", `"historyConfig":{"initialHistoryInClientContent":true}`, true},
		{Setup{Model: DefaultModel}, "", `"model":"models/` + DefaultModel, true},
		{Setup{Model: "gemini-2.5-flash", History: history}, "", `"model":"models/gemini-2.5-flash"`, false},
		{Setup{History: history, Handle: "h"}, "Setup.History", "", false},
		{Setup{History: []Turn{{"caller", "Hi."}}}, "Setup.History", "", false},
	}
	for _, test := range tests {
		err := test.setup.Check()
		var e *SetupError
		if refused := errors.As(err, &e); refused != (test.field != "") || refused && e.Field != test.field {
			t.Errorf("%+v: error %v; want %q", test.setup, err, test.field)
		}
		if test.field != "" {
			continue
		}
		data, err := test.setup.message((&Wire{}).fullModel(test.setup.Model))
		if err != nil || !strings.Contains(string(data), test.part) {
			t.Errorf("%+v: %s, %v; want %s", test.setup, data, err, test.part)
		}
		var sent map[string]map[string]any
		announced := test.said && len(test.setup.History) > 0
		if json.Unmarshal(data, &sent) != nil || sent["setup"]["historyConfig"] != nil != announced {
			t.Errorf("%+v: %s", test.setup, data)
		}
		if m := test.setup.history(); m.TurnComplete != test.said {
			t.Errorf("%+v: history ends with turn complete: %v", test.setup, m.TurnComplete)
		}
	}
}

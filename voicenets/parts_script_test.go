package voicenets

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/petritest"
)

// scripted is a part in a configuration, with the file of its scripts.
type scripted struct {
	file string
	part Part
	c    Config
}

// scripts are the parts that are tested alone: counts are small, times as they are by default.
func scripts() []scripted {
	words := Prompts(0).With(AskConsent).With(Filler).With(Fallback).With(Goodbye)
	list := []scripted{
		{"speech", PartSpeech, Config{}},
		{"turns", PartTurns, Config{}},
		{"turns_tools", PartTurns, Config{ToolSlots: 1}},
		{"turns_half_duplex", PartTurns, Config{HalfDuplex: true}},
		{"turns_adaptive", PartTurns, Config{Adaptive: true, RepromptAfter: 10 * time.Second}},
		{"turns_model_vad", PartTurns, Config{Detection: ModelVAD}},
		{"hints", PartHints, Config{Hints: true}},
		{"text", PartText, Config{}},
		{"text_tools", PartText, Config{ToolSlots: 1}},
		{"context", PartContext, Config{}},
		{"uplink", PartUplink, Config{}},
		{"uplink_half_duplex", PartUplink, Config{HalfDuplex: true}},
		{"uplink_model_vad", PartUplink, Config{Detection: ModelVAD}},
		{"model", PartModel, Config{}},
		{"playout", PartPlayout, Config{}},
		{"playout_consent", PartPlayout, Config{Consent: true}},
		{"transcript", PartTranscript, Config{}},
		{"input_gate", PartInputGate, Config{}},
		{"input_gate_consent", PartInputGate, Config{Consent: true}},
		{"digits", PartDigits, Config{}},
		{"prompts", PartPrompts, Config{Prompts: words, RepromptAfter: 10 * time.Second, Consent: true, ToolSlots: 1}},
		{"prompts_notify", PartPrompts, Config{Prompts: everyPrompt(), RepromptAfter: 10 * time.Second,
			Consent: true, ToolSlots: 1}},
		{"tools", PartTools, Config{ToolSlots: 2, Prompts: words}},
		{"model_silence", PartModelSilence, Config{ToolSlots: 1, Greeting: true, GreetingFirm: true}},
		{"caller_silence", PartCallerSilence, Config{ToolSlots: 2, RepromptAfter: 10 * time.Second}},
		{"link", PartLink, Config{ToolSlots: 1, Prompts: words}},
		{"link_model_vad", PartLink, Config{Detection: ModelVAD}},
		{"call", PartCall, Config{Prompts: words}},
		{"call_greeting", PartCall, Config{Greeting: true, GreetingFirm: true}},
	}
	for i := range list {
		list[i].c.BudgetFrames, list[i].c.ReplyFramesMax, list[i].c.PreRollFrames = 2, 3, 2
	}
	return list
}

// path is where its scripts are.
func (s scripted) path() string { return filepath.Join("testdata", "parts", s.file) }

// net is the part by itself.
func (s scripted) net(t *testing.T) *petri.Net {
	n, err := Subnet(s.c, s.part)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestParts plays the scripts of each part on that part alone.
func TestParts(t *testing.T) {
	for _, s := range scripts() {
		t.Run(s.file, func(t *testing.T) { petritest.RunPart(t, s.path(), s.net(t)) })
	}
}

// TestPartsFire: each transition of each part fires in a script of that part, and the
// configurations of the scripts have what any session has.
func TestPartsFire(t *testing.T) {
	fires, has := map[string]bool{}, map[string]bool{}
	for _, s := range scripts() {
		for _, name := range firedIn(t, s.path()) {
			fires[string(s.part)+"/"+name] = true
		}
		for _, tr := range s.net(t).Transitions {
			has[string(s.part)+"/"+tr.Name] = true
		}
	}
	for name := range has {
		if !fires[name] {
			t.Errorf("%s fires in no script", name)
		}
	}
	slot := regexp.MustCompile(`_[2-7]$`) // of a third tool, or the next: as the second
	for name, c := range variants() {
		n, err := Session(c)
		if err != nil {
			t.Fatal(err)
		}
		for _, sub := range n.Nets {
			for _, tr := range sub.Transitions {
				if full := sub.Name + "/" + tr.Name; !has[full] && !has[slot.ReplaceAllString(full, "_1")] {
					t.Errorf("%s: %s is in no part that has a script", name, full)
				}
			}
		}
	}
}

// firedIn are the transitions in the traces of a file of scripts.
func firedIn(t *testing.T, path string) []string {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, block := range strings.Split(string(data), "\n\n") {
		_, trace, _ := strings.Cut(block, "\n----\n")
		for _, line := range strings.Split(trace, "\n") {
			if w := strings.Fields(line); len(w) > 1 {
				list = append(list, w[1])
			}
		}
	}
	return list
}

// TestPartsNamed: there is a script for every part.
func TestPartsNamed(t *testing.T) {
	seen := map[Part]bool{}
	for _, s := range scripts() {
		seen[s.part] = true
	}
	list, err := PartsOf(everything())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range list {
		if !seen[p] {
			t.Errorf("part %s has no script", p)
		}
	}
}

package managed

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/voicegw/voicegw/agent/provider"
)

const skillText = "---\nname: refunds\ndescription: >\n  How to refund\n  an order\n---\n\nNever refund twice.\n"

// skillDir is a directory with skills that can be used and some that cannot.
func skillDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	outside := filepath.Join(t.TempDir(), "SKILL.md")
	for name, text := range map[string]string{"refunds": skillText, "bare": "Never refund.", "open": "---\nname: x\n",
		"nameless": "---\nname: x\n---\nText", "broken": "---\nname: [\n---\nText", "bytes": "---\nname: \xff\n---\nText",
		"long": skillText + strings.Repeat("x", skillMax)} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name, "SKILL.md"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(outside, []byte(skillText), 0o600); err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{filepath.Dir(outside): filepath.Join(dir, "linked")} {
		if err := os.Symlink(from, to); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, "folder", "SKILL.md"), 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestSkills gives a model the instructions of a skill, behind those of the agent.
func TestSkills(t *testing.T) {
	dir := skillDir(t)
	d := Definition{System: "You are a desk.", Skills: []SkillRef{{Type: "custom", ID: "refunds"}}}
	h := newMCPHouse(t, func(c *Config) { c.Skills = dir }, d, []provider.ScriptTurn{says("Done.")})
	h.ask(Text("Go"))
	got := h.model.last.Config.SystemInstruction.Parts[0].Text
	if want := "You are a desk.\n\n# Skill: refunds\n\nHow to refund an order\n\nNever refund twice."; got != want {
		t.Errorf("the instruction is %q, want %q", got, want)
	}
}

// TestSkillRefusals refuses skills that are not there, and that lead out of the directory.
func TestSkillRefusals(t *testing.T) {
	dir := skillDir(t)
	h := newHouse(t, Definition{}, nil)
	h.close()
	h.cfg.Skills = dir
	h.open()
	defer h.close()
	for _, c := range []struct {
		ref  SkillRef
		want string
	}{
		{SkillRef{Type: "custom", ID: "none"}, `there is no skill "none"`},
		{SkillRef{Type: "custom", ID: "linked"}, `there is no skill "linked"`},
		{SkillRef{Type: "custom", ID: "folder"}, `there is no skill "folder"`},
		{SkillRef{Type: "custom", ID: ".."}, "must have 1 to 128 letters"},
		{SkillRef{Type: "custom", ID: "a/b"}, "must have 1 to 128 letters"},
		{SkillRef{Type: "custom", ID: "refunds", Version: "3"}, "the only version there is"},
		{SkillRef{Type: "anthropic", ID: "refunds"}, "the only type there is"},
		{SkillRef{Type: "custom", ID: "bare"}, "must begin with a line"},
		{SkillRef{Type: "custom", ID: "open"}, "must begin with a line"},
		{SkillRef{Type: "custom", ID: "nameless"}, "its description is missing"},
		{SkillRef{Type: "custom", ID: "broken"}, "is no YAML"},
		{SkillRef{Type: "custom", ID: "bytes"}, "is not UTF-8"},
		{SkillRef{Type: "custom", ID: "long"}, "more than 102400 bytes"},
	} {
		d := Definition{Name: "desk", Model: ModelRef{ID: "script"}, Skills: []SkillRef{c.ref}}
		_, err := h.rt.CreateAgent(t.Context(), ada, d)
		if CodeOf(err) != Invalid || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "skills[0]") {
			t.Errorf("%+v: the error is %v, want %s", c.ref, err, c.want)
		}
	}
	d := Definition{Name: "desk", Model: ModelRef{ID: "script"}, Skills: make([]SkillRef, skillsMax+1)}
	if _, err := h.rt.CreateAgent(t.Context(), ada, d); err == nil || !strings.Contains(err.Error(), "at most 20") {
		t.Errorf("the error is %v", err)
	}
	h.cfg.Skills = ""
	h.close()
	h.open()
	d.Skills = []SkillRef{{Type: "custom", ID: "refunds"}}
	_, err := h.rt.CreateAgent(t.Context(), ada, d)
	if err == nil || !strings.Contains(err.Error(), "the operator has none") {
		t.Errorf("the error is %v", err)
	}
}

// FuzzSkill reads any file as a skill: one that is accepted has a name, a description and text.
func FuzzSkill(f *testing.F) {
	f.Add([]byte(skillText))
	f.Add([]byte("---\r\nname: x\r\ndescription: y\r\n---"))
	f.Add([]byte("---\n---\n---\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := parseSkill(b)
		if err == nil && (s.Name == "" || s.Description == "" || len(s.body) > skillMax || !utf8.ValidString(s.body)) {
			t.Errorf("%+v", s)
		}
	})
}

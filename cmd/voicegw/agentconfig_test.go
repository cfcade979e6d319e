package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/agent/managed"
	"github.com/voicegw/voicegw/settings"
)

// TestAgentConfig: nothing is allowed by default, and the settings allow what they say.
func TestAgentConfig(t *testing.T) {
	c, err := agentConfig(&settings.Settings{})
	if err != nil || len(c.Commands)+len(c.CommandEnv)+len(c.Credentials)+len(c.Prices) > 0 || c.AllowPrivate ||
		c.Skills != "" {
		t.Errorf("by default agents may use %+v, %v", c, err)
	}
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	s := &settings.Settings{Skills: dir, Prices: write("prices.yaml", "parrot: {input: 1, output: 2.5}"),
		MCP: settings.MCP{Commands: []string{"files"}, CommandEnv: []string{"HOME"}, Private: true,
			Bearers: write("bearers.yaml", "github: {url: https://example.com, env: GITHUB_TOKEN}")}}
	c, err = agentConfig(s)
	if err != nil || c.Prices["parrot"] != (managed.Price{Input: 1_000_000, Output: 2_500_000}) || !c.AllowPrivate ||
		c.Credentials["github"].Env != "GITHUB_TOKEN" || c.Commands[0] != "files" || c.CommandEnv[0] != "HOME" ||
		c.Skills != dir {
		t.Errorf("%+v, %v", c, err)
	}
	s.Prices = write("bad.yaml", "parrot: {input: cheap, output: 1}")
	if _, err := agentConfig(s); err == nil || !strings.Contains(err.Error(), "bad.yaml: ") ||
		!strings.Contains(err.Error(), "cheap") {
		t.Errorf("the error is %v", err)
	}
	s.Prices, s.MCP.Bearers = "", filepath.Join(dir, "none")
	if _, err := agentConfig(s); err == nil || !strings.Contains(err.Error(), "mcp.bearers: ") {
		t.Errorf("the error is %v", err)
	}
}

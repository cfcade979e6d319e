package main

import (
	"fmt"
	"io"
	"os"

	"github.com/voicegw/voicegw/agent/managed"
	"github.com/voicegw/voicegw/settings"
)

// agentConfig is what the operator allows agents, by the settings.
func agentConfig(s *settings.Settings) (c managed.Config, err error) {
	c = managed.Config{Skills: s.Skills, Commands: s.MCP.Commands, CommandEnv: s.MCP.CommandEnv,
		AllowPrivate: s.MCP.Private}
	if c.Prices, err = readTable("prices", s.Prices, managed.ParsePrices); err != nil {
		return c, err
	}
	c.Credentials, err = readTable("mcp.bearers", s.MCP.Bearers, managed.ParseCredentials)
	return c, err
}

// readTable reads the file that a setting names; nil if it names none.
func readTable[T any](setting, file string, parse func([]byte) (map[string]T, error)) (map[string]T, error) {
	const tableMax = 1 << 20
	if file == "" {
		return nil, nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", setting, err)
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, tableMax+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", setting, err)
	}
	list, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", setting, file, err)
	}
	return list, nil
}

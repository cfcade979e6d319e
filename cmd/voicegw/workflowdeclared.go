package main

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/pflag"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent/managed"
	"github.com/voicegw/voicegw/agent/workflow"
	"github.com/voicegw/voicegw/agent/workflow/exec"
)

// declared are names that a program in Go registers, for which a workflow is checked. This program has none of them.
type declared struct{ tools, toolsets, functions, callbacks, plugins []string }

func (d *declared) addFlags(f *pflag.FlagSet) {
	f.StringArrayVar(&d.tools, "tool", nil, "the `name` of a tool that your program in Go has; may be repeated")
	f.StringArrayVar(&d.toolsets, "toolset", nil, "a toolset of your program, as `NAME=TOOL,TOOL`; may be repeated")
	f.StringArrayVar(&d.functions, "function", nil, "the `name` of a function of your program; may be repeated")
	f.StringArrayVar(&d.callbacks, "callback", nil, "the `name` of a callback of your program; may be repeated")
	f.StringArrayVar(&d.plugins, "plugin", nil, "the `name` of a plugin of your program; may be repeated")
}

// config has something under each name. Nothing of it is called.
func (d *declared) config() (exec.Config, error) {
	never := errors.New("it is only declared")
	cfg := exec.Config{Toolsets: map[string][]string{}, Functions: map[string]exec.Function{},
		Callbacks: map[string]exec.Hooks{}, Plugins: map[string]exec.Hooks{}}
	tool := func(name string) {
		cfg.Tools = append(cfg.Tools, managed.Tool{Declaration: &genai.FunctionDeclaration{Name: name},
			Call: func(context.Context, managed.ToolCall) (map[string]any, error) { return nil, never }})
	}
	for _, name := range d.tools {
		tool(name)
	}
	for _, text := range d.toolsets {
		name, list, ok := strings.Cut(text, "=")
		if !ok || name == "" || list == "" {
			return cfg, usagef("--toolset is %q; write NAME=TOOL,TOOL", text)
		}
		cfg.Toolsets[name] = strings.Split(list, ",")
		for _, one := range cfg.Toolsets[name] {
			tool(one)
		}
	}
	for _, name := range d.functions {
		cfg.Functions[name] = exec.Function{Call: func(context.Context, map[string]any) (any, error) { return nil, never }}
	}
	for _, name := range d.callbacks {
		cfg.Callbacks[name] = exec.Idle()
	}
	for _, name := range d.plugins {
		cfg.Plugins[name] = exec.Hooks{}
	}
	return cfg, nil
}

// registry is what a file may name when it is loaded. If no functions or callbacks are declared, any may be named: the
// file is then proved first, and what is missing here is reported after that.
func (d *declared) registry(e *exec.Engine) workflow.Registry {
	r := e.Registry()
	if len(d.functions) == 0 {
		r.Functions = nil
	}
	if len(d.callbacks) == 0 {
		r.Callbacks = nil
	}
	return r
}

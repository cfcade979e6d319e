package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/access"
	"github.com/voicegw/voicegw/agent/managed"
	"github.com/voicegw/voicegw/agent/workflow"
	"github.com/voicegw/voicegw/agent/workflow/exec"
	"github.com/voicegw/voicegw/agent/workflow/httpapi"
	"github.com/voicegw/voicegw/journal"
	"github.com/voicegw/voicegw/settings"
)

// servedFlows are the workflows of a gateway.
type servedFlows struct {
	engine   *exec.Engine
	unproved []*workflow.Workflow
	url      string // where the gateway listens, once it does
	public   string // where others reach it; "": url
	handler  http.Handler
	server   *httpapi.Server
}

// openWorkflows loads and proves the workflows of a directory; nil without one. Its error has all findings of all
// workflows that are refused.
func openWorkflows(ctx context.Context, s *settings.Settings, engine journal.Engine, log *zap.Logger) (*servedFlows,
	error) {
	dir := s.Workflow.Dir
	if dir == "" {
		return nil, nil
	}
	f := &servedFlows{public: s.Workflow.PublicURL}
	var err error
	f.engine, err = newEngine(&s.Workflow, exec.Config{Store: exec.NewJournalStore(engine),
		Logger: log.Named("workflows")})
	if err != nil {
		return nil, err
	}
	files, err := workflowFiles(dir)
	if err != nil {
		return nil, fmt.Errorf("workflows: %w", err)
	}
	var refused []error
	for _, file := range files {
		w, err := addWorkflow(ctx, f.engine, file)
		switch {
		case err != nil:
			refused = append(refused, fmt.Errorf("workflows: %w", err))
		case w.Unverified != "":
			f.unproved = append(f.unproved, w)
		}
	}
	return f, errors.Join(refused...)
}

// add makes the workflows shared agents.
func (f *servedFlows) add(cfg *managed.Config) error {
	if f == nil {
		return nil
	}
	cfg.Programs = f.engine.Programs()
	for _, name := range f.engine.Names() {
		d, err := f.engine.Definition(name)
		if err != nil {
			return err
		}
		cfg.Shared = append(cfg.Shared, d)
	}
	return nil
}

// serve opens the routes.
func (f *servedFlows) serve(s *settings.Settings, rt *managed.Runtime, guard *access.Guard, log *zap.Logger) error {
	if f == nil {
		return nil
	}
	h, err := httpapi.New(httpapi.Config{Engine: f.engine, Runtime: rt, Authorize: ownerOf(guard), URL: f.address,
		Logger: log.Named("workflows")})
	if err != nil {
		return err
	}
	f.server = h
	f.handler = http.NewCrossOriginProtection().Handler(plain(knownHost(s, h)))
	return nil
}

// close ends what outlives requests.
func (f *servedFlows) close() {
	if f != nil && f.server != nil {
		f.server.Close()
	}
}

// address is where others reach the gateway.
func (f *servedFlows) address() string {
	if f.public != "" {
		return f.public
	}
	return f.url
}

// note tells the person who starts the gateway; "" without workflows.
func (f *servedFlows) note() string {
	if f == nil {
		return ""
	}
	text := fmt.Sprintf("workflows at %sapi/workflows: %s", f.url, strings.Join(f.engine.Names(), ", "))
	for _, w := range f.unproved {
		text += fmt.Sprintf("; %s is not proved: %s", w.Name, w.Unverified)
	}
	return text
}

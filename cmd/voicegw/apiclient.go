package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/voicegw/voicegw/agent/managed"
	"github.com/voicegw/voicegw/settings"
)

// sessionTokenVariable is the environment variable with the token of the sessions API.
const sessionTokenVariable = "VOICEGW_SESSION_TOKEN"

// apiClient speaks the sessions API.
type apiClient struct {
	url  string
	json bool // print what the API says
	out  io.Writer
}

// withAPI makes a command one of the sessions API: run gets a client.
func withAPI(cmd *cobra.Command, min, max int, run func(context.Context, *apiClient, []string) error) *cobra.Command {
	c := &apiClient{}
	cmd.Args = func(_ *cobra.Command, args []string) error {
		if len(args) < min || len(args) > max {
			return usagef("it is used as: voicegw %s", strings.TrimPrefix(cmd.UseLine(), "voicegw "))
		}
		return nil
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		u, err := url.Parse(c.url)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return usagef("--url is %q; give an address such as http://%s", c.url, settings.ListenDefault)
		}
		c.url, c.out = strings.TrimSuffix(c.url, "/"), cmd.OutOrStdout()
		return run(cmd.Context(), c, args)
	}
	cmd.Flags().StringVar(&c.url, "url", "http://"+settings.ListenDefault, "the gateway's `URL`")
	outputFlag(cmd, &c.json, "what the API answers")
	return cmd
}

// request sends a request. The caller closes the body of the answer.
func (c *apiClient) request(ctx context.Context, method, path string, body any) (*http.Response, error) {
	var b []byte
	if body != nil {
		var err error
		if b, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	r, err := http.NewRequestWithContext(ctx, method, c.url+"/v1/"+path, bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	if token := os.Getenv(sessionTokenVariable); token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, fmt.Errorf("%w: is a gateway running there, with --data-dir?", err)
	}
	if resp.StatusCode == http.StatusOK {
		return resp, nil
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<16))
	var e struct {
		Error struct{ Message string }
	}
	message := strings.TrimSpace(string(text))
	if json.Unmarshal(text, &e) == nil && e.Error.Message != "" {
		message = e.Error.Message
	}
	switch {
	case resp.StatusCode == http.StatusUnauthorized:
		message += ": put a token with the scope sessions into " + sessionTokenVariable
	case resp.StatusCode == http.StatusNotFound && message == "404 page not found":
		message = "the gateway has no sessions API: start it with --data-dir"
	}
	return nil, fmt.Errorf("%s", message)
}

// call sends a request and reads the answer, or prints it.
func (c *apiClient) call(ctx context.Context, method, path string, body, to any) error {
	resp, err := c.request(ctx, method, path, body)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if c.json {
		fmt.Fprintf(c.out, "%s\n", bytes.TrimSpace(b))
	}
	return json.Unmarshal(b, to)
}

// apiPage is a page of a list.
type apiPage[T any] struct {
	Data []T     `json:"data"`
	Next *string `json:"next_page"`
}

// all reads all pages of a list.
func all[T any](ctx context.Context, c *apiClient, path string) (list []T, err error) {
	next := ""
	for {
		var p apiPage[T]
		at := path
		if next != "" {
			at += "&page=" + url.QueryEscape(next)
		}
		if err := c.call(ctx, http.MethodGet, at, nil, &p); err != nil {
			return nil, err
		}
		list = append(list, p.Data...)
		if p.Next == nil {
			return list, nil
		}
		next = *p.Next
	}
}

// follow prints the events of a session from a number on until the session is idle, or, with on, until ctx
// ends. A stream that is cut goes on where it was.
func (c *apiClient) follow(ctx context.Context, id string, from uint64, on bool) error {
	const again = time.Second
	next := max(from, 1)
	for {
		over, err := c.stream(ctx, id, &next, on)
		if over || ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		select {
		case <-time.After(again):
		case <-ctx.Done():
			return nil
		}
	}
}

// stream prints events until the stream ends. It reports whether nothing more is wanted. An error means that
// another attempt is of no use.
func (c *apiClient) stream(ctx context.Context, id string, next *uint64, on bool) (over bool, err error) {
	resp, err := c.request(ctx, http.MethodGet, fmt.Sprintf("sessions/%s/events/stream?from_seq=%d", id, *next), nil)
	if err != nil {
		var refused *url.Error
		if errors.As(err, &refused) && *next > 1 { // it has worked before
			return false, nil
		}
		return false, err
	}
	defer resp.Body.Close()
	s := bufio.NewScanner(resp.Body)
	s.Buffer(nil, 16<<20)
	for s.Scan() {
		data, ok := strings.CutPrefix(s.Text(), "data: ")
		if !ok {
			continue
		}
		var ev managed.Event
		if err := json.Unmarshal([]byte(data), &ev); err != nil {
			return false, fmt.Errorf("read an event: %w", err)
		}
		c.print(&ev, data)
		*next = max(*next, ev.Seq+1)
		rests := ev.Type == managed.StatusIdle || ev.Type == managed.StatusTerminated
		if ev.Type == managed.SessionDeleted || rests && !on {
			return true, nil
		}
	}
	return false, nil
}

// print prints an event for a person, or as JSON.
func (c *apiClient) print(ev *managed.Event, data string) {
	if c.json {
		fmt.Fprintln(c.out, data)
		return
	}
	text := ""
	for _, b := range ev.Content {
		text += b.Text
	}
	switch ev.Type {
	case managed.UserMessage, managed.UserInterrupt:
		if ev.ProcessedAt == nil {
			return // it is told again when it is taken up
		}
	case managed.AgentToolUse, managed.AgentMCPToolUse, managed.AgentCustomToolUse:
		text = fmt.Sprintf("%s %s  (%s)", ev.Name, ev.Input, ev.ID)
		if ev.Permission == "ask" {
			text += " asks for permission"
		}
	case managed.StatusIdle:
		text = ev.StopReason.Type
		if ev.StopReason.Detail != "" {
			text += ": " + ev.StopReason.Detail
		}
		for _, id := range ev.StopReason.EventIDs {
			text += "\n             waits for " + id
		}
	case managed.SessionError:
		text = fmt.Sprintf("%s: %s (%s)", ev.Error.Type, ev.Error.Message, ev.Error.Retry.Type)
	case managed.SpanStart, managed.SpanEnd, managed.SessionUsage:
		return
	}
	fmt.Fprintf(c.out, "%5d  %-28s %s\n", ev.Seq, ev.Type, strings.TrimSpace(text))
}

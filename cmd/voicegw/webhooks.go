package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/access"
	"github.com/voicegw/voicegw/agent/fetch"
	"github.com/voicegw/voicegw/settings"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/webhook"
)

const (
	// queueTries and queueBackoff let a record wait two minutes for its server.
	queueTries   = 8
	queueBackoff = time.Second
	toolHook     = "tool" // the kind of hooks that answer functions
	// queueGrace is how long the end of the process waits for the servers.
	queueGrace = 5 * time.Second
)

// webhooks are the HTTP servers that take part in calls.
type webhooks struct {
	set    *settings.Settings
	log    *zap.Logger
	client sharedClient              // of fixed
	stats  map[string]*webhook.Stats // by kind
	fixed  []*webhook.Hook           // those of all calls: begin, end and digits
	queues map[string]*webhook.Queue
}

// sharedClient makes the requests of the hooks that all calls share. A reload replaces it.
type sharedClient struct{ atomic.Pointer[fetch.Client] }

// Do makes one request.
func (c *sharedClient) Do(ctx context.Context, r fetch.Request) (*fetch.Response, error) {
	return c.Load().Do(ctx, r)
}

// hookTools are the functions of a call that HTTP servers answer.
type hookTools struct {
	tools   []voicegw.Tool
	secrets [sha256.Size]byte // a hash of those that sign their requests; zero: no function
}

// joinWebhooks lets HTTP servers take part in calls, as the settings say.
func (s *serving) joinWebhooks(cfg *voicegw.Config) error {
	set := &s.settings.Webhooks
	client, err := fetch.New(fetch.Config{Allow: set.Allow})
	if err != nil {
		return fmt.Errorf("webhooks.allow: %w", err)
	}
	w := &webhooks{set: s.settings, log: s.log.Named("webhook"), stats: map[string]*webhook.Stats{toolHook: {}},
		queues: map[string]*webhook.Queue{}}
	w.client.Store(client)
	s.webhooks = w
	tools, err := w.tools(s.settings)
	if err != nil {
		return err
	}
	cfg.Tools, s.hookSecrets = append(cfg.Tools, tools.tools...), tools.secrets
	if set.Begin != "" {
		hook, err := w.all("begin", webhook.Config{URL: set.Begin, Timeout: set.Timeout})
		if err != nil {
			return fmt.Errorf("webhooks.begin_url: %w", err)
		}
		begin := &webhook.Begin{Hook: hook, Next: cfg.Hooks.Begin, Open: set.BeginOpen, Models: set.Models, Log: w.log}
		cfg.Hooks.Begin = keepModel(begin.Plan)
	}
	if set.End != "" {
		q, err := w.queue("end", set.End)
		if err != nil {
			return fmt.Errorf("webhooks.end_url: %w", err)
		}
		cfg.Hooks.Ended = q.Ended
	}
	if set.Digits != "" {
		q, err := w.queue("digits", set.Digits)
		if err != nil {
			return fmt.Errorf("webhooks.digits_url: %w", err)
		}
		cfg.Hooks.Digits = q.Digits
	}
	return nil
}

// keepModel plans a call; the model that its token names stays.
func keepModel(plan func(context.Context, *transport.Hello) (*voicegw.Plan, error)) func(context.Context,
	*transport.Hello) (*voicegw.Plan, error) {
	return func(ctx context.Context, hello *transport.Hello) (*voicegw.Plan, error) {
		p, err := plan(ctx, hello)
		if grant := access.GrantOf(ctx); err == nil && grant != nil && grant.Model != "" {
			setup := *p.Setup // serving.plan has planned one
			setup.Model = grant.Model
			p.Setup = &setup
		}
		return p, err
	}
}

// tools makes the functions of settings that HTTP servers answer. They have a client of their own: a call keeps the one
// that it began with.
func (w *webhooks) tools(set *settings.Settings) (hookTools, error) {
	var out hookTools
	client, err := fetch.New(fetch.Config{Allow: set.Webhooks.Allow})
	if err != nil {
		return out, fmt.Errorf("webhooks.allow: %w", err)
	}
	secrets := sha256.New()
	for _, t := range set.WebTools {
		secret, err := signingSecret(set, t.SecretFile)
		var hook *webhook.Hook
		if err == nil {
			hook, err = webhook.New(webhook.Config{URL: t.URL, Timeout: t.Timeout, Secret: secret, Client: client,
				Allow: set.Webhooks.Allow, Stats: w.stats[toolHook]})
		}
		if err != nil {
			return out, fmt.Errorf("session.tools_file %s: %s: %w", set.ToolsFile, t.Name, err)
		}
		fmt.Fprintf(secrets, "%q", secret)
		out.tools = append(out.tools, hook.Tool(t.Tool, w.log))
	}
	if len(out.tools) > 0 {
		secrets.Sum(out.secrets[:0])
	}
	return out, nil
}

// signingSecret reads a secret that signs: the one in a file of a function's own, or the one of all webhooks.
func signingSecret(set *settings.Settings, own string) ([]byte, error) {
	key, file := "webhooks.secret_file", set.Webhooks.SecretFile
	if own != "" {
		key, file = "secret_file", own
	}
	if file == "" {
		return nil, errors.New("there is no secret to sign with: set webhooks.secret_file")
	}
	secret, err := set.Secret(key, file)
	if err == nil && len(secret) < webhook.SecretLenMin {
		err = fmt.Errorf("%s: the secret has %d bytes; it must have %d or more", key, len(secret), webhook.SecretLenMin)
	}
	return []byte(secret), err
}

// all makes the hook of a kind that all calls share.
func (w *webhooks) all(kind string, cfg webhook.Config) (*webhook.Hook, error) {
	var err error
	if cfg.Secret, err = signingSecret(w.set, ""); err != nil {
		return nil, err
	}
	w.stats[kind] = &webhook.Stats{}
	cfg.Allow, cfg.Client, cfg.Stats = w.set.Webhooks.Allow, &w.client, w.stats[kind]
	hook, err := webhook.New(cfg)
	if err == nil {
		w.fixed = append(w.fixed, hook)
	}
	return hook, err
}

// prepareAllow checks the URLs of the hooks that all calls share against another list of private addresses; commit then
// makes it the one that counts for their requests.
func (w *webhooks) prepareAllow(allow []string) (commit func(), err error) {
	client, err := fetch.New(fetch.Config{Allow: allow})
	if err != nil {
		return nil, err
	}
	for _, h := range w.fixed {
		if err := h.CheckAllow(allow); err != nil {
			return nil, err
		}
	}
	return func() { w.client.Store(client) }, nil
}

// prepareSecret checks the secret of the hooks that all calls share; commit then replaces it.
func (w *webhooks) prepareSecret(secret []byte) (commit func(), err error) {
	var all []func()
	for _, h := range w.fixed {
		one, err := h.PrepareSecret(secret)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return func() {
		for _, one := range all {
			one()
		}
	}, nil
}

// queue makes the queue of a kind.
func (w *webhooks) queue(kind, url string) (*webhook.Queue, error) {
	hook, err := w.all(kind, webhook.Config{URL: url, Tries: queueTries, Backoff: queueBackoff})
	if err != nil {
		return nil, err
	}
	q, err := webhook.NewQueue(webhook.QueueConfig{Hook: hook, Log: w.log})
	if err == nil {
		w.queues[kind] = q
	}
	return q, err
}

// close waits for the servers to take what waits, but not for long.
func (w *webhooks) close() {
	if w == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), queueGrace)
	defer cancel()
	for kind, q := range w.queues {
		if err := q.Close(ctx); err != nil {
			w.log.Error("requests were lost", zap.String("hook", kind), zap.Error(err))
		}
	}
}

// webhookMetrics reports what became of requests.
type webhookMetrics struct {
	webhooks                *webhooks
	requests, waiting, lost *prometheus.Desc
}

func newWebhookMetrics(w *webhooks) *webhookMetrics {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("voicegw_webhook_"+name, help, labels, nil)
	}
	return &webhookMetrics{webhooks: w,
		requests: desc("requests_total", "Requests to webhooks, without repetitions, and how they ended: ok, refused (a "+
			"status that says no, or no JSON), failed, timeout or cancelled.", "hook", "result"),
		waiting: desc("waiting", "Requests that wait for a webhook.", "hook"),
		lost:    desc("lost_total", "Requests that were given up: records of calls, and digits.", "hook")}
}

// Describe implements prometheus.Collector.
func (m *webhookMetrics) Describe(ch chan<- *prometheus.Desc) {
	ch <- m.requests
	ch <- m.waiting
	ch <- m.lost
}

// Collect implements prometheus.Collector.
func (m *webhookMetrics) Collect(ch chan<- prometheus.Metric) {
	for kind, stats := range m.webhooks.stats {
		for _, r := range webhook.Results() {
			ch <- prometheus.MustNewConstMetric(m.requests, prometheus.CounterValue, float64(stats.Count(r)), kind, r.String())
		}
	}
	for kind, q := range m.webhooks.queues {
		ch <- prometheus.MustNewConstMetric(m.waiting, prometheus.GaugeValue, float64(q.Waiting()), kind)
		ch <- prometheus.MustNewConstMetric(m.lost, prometheus.CounterValue, float64(q.Lost()), kind)
	}
}

package main

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/settings"
	"github.com/voicegw/voicegw/webhook"
)

const (
	// queueTries and queueBackoff let a record wait two minutes for its server.
	queueTries   = 8
	queueBackoff = time.Second
	// queueGrace is how long the end of the process waits for the servers.
	queueGrace = 5 * time.Second
)

// webhooks are the HTTP servers that take part in calls.
type webhooks struct {
	set    *settings.Settings
	log    *zap.Logger
	hooks  map[string][]*webhook.Hook // by kind
	queues map[string]*webhook.Queue
}

// joinWebhooks lets HTTP servers take part in calls, as the settings say.
func (s *serving) joinWebhooks(cfg *voicegw.Config) error {
	w := &webhooks{set: s.settings, log: s.log.Named("webhook"), hooks: map[string][]*webhook.Hook{},
		queues: map[string]*webhook.Queue{}}
	s.webhooks = w
	for _, t := range s.settings.WebTools {
		hook, err := w.open("tool", webhook.Config{URL: t.URL, Timeout: t.Timeout}, t.SecretFile)
		if err != nil {
			return fmt.Errorf("session.tools_file %s: %s: %w", s.settings.ToolsFile, t.Name, err)
		}
		cfg.Tools = append(cfg.Tools, hook.Tool(t.Tool, w.log))
	}
	set := &s.settings.Webhooks
	if set.Begin != "" {
		hook, err := w.open("begin", webhook.Config{URL: set.Begin, Timeout: set.Timeout}, "")
		if err != nil {
			return fmt.Errorf("webhooks.begin_url: %w", err)
		}
		begin := &webhook.Begin{Hook: hook, Next: cfg.Hooks.Begin, Open: set.BeginOpen, Log: w.log}
		cfg.Hooks.Begin = begin.Plan
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

// open makes a hook of a kind. Its secret is in a file of its own, or in the one of all webhooks.
func (w *webhooks) open(kind string, cfg webhook.Config, secretFile string) (*webhook.Hook, error) {
	key := "webhooks.secret_file"
	if secretFile != "" {
		key = "secret_file"
	}
	file := cmp.Or(secretFile, w.set.Webhooks.SecretFile)
	if file == "" {
		return nil, fmt.Errorf("there is no secret to sign with: set webhooks.secret_file")
	}
	secret, err := w.set.Secret(key, file)
	if err != nil {
		return nil, err
	}
	cfg.Secret, cfg.Allow = []byte(secret), w.set.Webhooks.Allow
	hook, err := webhook.New(cfg)
	if err == nil {
		w.hooks[kind] = append(w.hooks[kind], hook)
	}
	return hook, err
}

// queue makes the queue of a kind.
func (w *webhooks) queue(kind, url string) (*webhook.Queue, error) {
	hook, err := w.open(kind, webhook.Config{URL: url, Tries: queueTries, Backoff: queueBackoff}, "")
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
	for kind, hooks := range m.webhooks.hooks {
		for _, r := range webhook.Results() {
			n := uint64(0)
			for _, h := range hooks {
				n += h.Count(r)
			}
			ch <- prometheus.MustNewConstMetric(m.requests, prometheus.CounterValue, float64(n), kind, r.String())
		}
	}
	for kind, q := range m.webhooks.queues {
		ch <- prometheus.MustNewConstMetric(m.waiting, prometheus.GaugeValue, float64(q.Waiting()), kind)
		ch <- prometheus.MustNewConstMetric(m.lost, prometheus.CounterValue, float64(q.Lost()), kind)
	}
}

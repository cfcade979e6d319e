package main

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/voicegw/voicegw/agent/managed"
	"github.com/voicegw/voicegw/settings"
	"github.com/voicegw/voicegw/transport"
)

// proofMetrics says whether the nets of calls are proved.
func proofMetrics(nets, proved int) []prometheus.Collector {
	gauge := func(proof string, n int) prometheus.Collector {
		g := prometheus.NewGauge(prometheus.GaugeOpts{Namespace: "voicegw", Name: "nets",
			Help:        "Kinds of nets that calls run on, by whether they were proved when serve began: proved or unproved.",
			ConstLabels: prometheus.Labels{"proof": proof}})
		g.Set(float64(n))
		return g
	}
	return []prometheus.Collector{gauge("proved", proved), gauge("unproved", nets-proved)}
}

// callPrice returns what tokens of calls cost by the settings; nil if there are no prices.
func callPrice(s *settings.Settings) (func(string, transport.Usage) (float64, bool), error) {
	prices, err := readTable("prices", s.Prices, managed.ParsePrices)
	if err != nil || len(prices) == 0 {
		return nil, err
	}
	return func(model string, u transport.Usage) (float64, bool) {
		p, known := prices[managed.ModelName(model)]
		return dollarsOf(p, u), known
	}, nil
}

// dollarsOf returns what tokens cost. Tokens of the cache count as text first, because models do not
// say which were audio.
func dollarsOf(p managed.Price, u transport.Usage) float64 {
	or := func(own, other int64) float64 {
		if own == 0 {
			own = other
		}
		return float64(own) / 1e12
	}
	text, speech := u.Prompt-u.PromptAudio-u.Cached, u.PromptAudio
	if text < 0 {
		text, speech = 0, max(speech+text, 0)
	}
	return float64(text)*or(p.Input, 0) + float64(speech)*or(p.InputAudio, p.Input) +
		float64(u.Cached)*or(p.CacheRead, p.Input) + float64(u.ResponseAudio)*or(p.OutputAudio, p.Output) +
		(float64(u.Response-u.ResponseAudio)+float64(u.Thoughts))*or(p.Output, 0)
}

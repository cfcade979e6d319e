package main

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/voicegw/voicegw/access"
)

// guardMetrics reports the decisions of a guard.
type guardMetrics struct {
	guard              *access.Guard
	denied             *prometheus.Desc
	quotas, usedTokens *prometheus.Desc
}

func newGuardMetrics(g *access.Guard) *guardMetrics {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("voicegw_"+name, help, labels, nil)
	}
	return &guardMetrics{guard: g,
		denied:     desc("access_denied_total", "Calls that the guard refused: for a token, a limit or overload.", "why"),
		quotas:     desc("access_quotas", "Addresses, tenants and subjects with a quota in use."),
		usedTokens: desc("access_used_tokens", "Used tokens that the guard remembers.")}
}

// Describe implements prometheus.Collector.
func (m *guardMetrics) Describe(ch chan<- *prometheus.Desc) {
	ch <- m.denied
	ch <- m.quotas
	ch <- m.usedTokens
}

// Collect implements prometheus.Collector.
func (m *guardMetrics) Collect(ch chan<- prometheus.Metric) {
	s := m.guard.Stats()
	for why, n := range s.Denied {
		ch <- prometheus.MustNewConstMetric(m.denied, prometheus.CounterValue, float64(n), why)
	}
	ch <- prometheus.MustNewConstMetric(m.quotas, prometheus.GaugeValue, float64(s.Quotas))
	ch <- prometheus.MustNewConstMetric(m.usedTokens, prometheus.GaugeValue, float64(s.Seen))
}

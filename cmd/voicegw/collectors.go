package main

import "github.com/prometheus/client_golang/prometheus"

// collectorsOf is one collector of several.
type collectorsOf []prometheus.Collector

// Describe describes all of them.
func (c collectorsOf) Describe(ch chan<- *prometheus.Desc) {
	for _, one := range c {
		one.Describe(ch)
	}
}

// Collect collects all of them.
func (c collectorsOf) Collect(ch chan<- prometheus.Metric) {
	for _, one := range c {
		one.Collect(ch)
	}
}

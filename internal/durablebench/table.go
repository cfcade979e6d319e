package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// total is what all runs of a side have measured.
type total struct {
	durable     string
	alone, many phase
	rates       []float64 // turns per second of each run, sessions at once
	syncs       *syncs
	crash       *crash
}

// add takes a run in.
func (t *total) add(r *report) {
	t.durable = r.Durable
	t.alone.add(r.Alone)
	t.many.add(r.Many)
	t.rates = append(t.rates, r.Many.rate())
}

func (p *phase) add(o phase) {
	p.Turns = append(p.Turns, o.Turns...)
	p.Elapsed += o.Elapsed
	p.CPU += o.CPU
	p.Written += o.Written
	p.Stored += o.Stored
}

// rate is turns per second.
func (p *phase) rate() float64 { return float64(len(p.Turns)) / p.Elapsed.Seconds() }

// each divides by the number of turns.
func (p *phase) each(n float64) float64 { return n / float64(len(p.Turns)) }

// quantile is the time that a part of the turns took at most, in milliseconds.
func (p *phase) quantile(q float64) string {
	list := slices.Sorted(slices.Values(p.Turns))
	at := list[int(q*float64(len(list)-1))]
	return fmt.Sprintf("%.1f ms", float64(at)/float64(time.Millisecond))
}

// tabulate prints a table in Markdown, a column for each side.
func tabulate(w io.Writer, sides []string, all map[string]*total) {
	line := func(name string, value func(t *total) string) {
		cells := make([]string, 0, len(sides))
		for _, side := range sides {
			cells = append(cells, value(all[side]))
		}
		_, _ = fmt.Fprintf(w, "| %s | %s |\n", name, strings.Join(cells, " | "))
	}
	_, _ = fmt.Fprintf(w, "| | %s |\n|%s\n", strings.Join(sides, " | "), strings.Repeat("---|", len(sides)+1))
	line("each commit is synced", func(t *total) string { return t.durable })
	for _, which := range []struct {
		name string
		of   func(t *total) *phase
		many bool
	}{{"one session", func(t *total) *phase { return &t.alone }, false},
		{"sessions at once", func(t *total) *phase { return &t.many }, true}} {
		phaseLines(which.name+": ", which.of, line)
		line(which.name+": syncs a turn", func(t *total) string {
			switch {
			case t.syncs == nil:
				return ""
			case which.many:
				return fmt.Sprintf("%.1f", t.syncs.many)
			}
			return fmt.Sprintf("%.1f", t.syncs.alone)
		})
	}
	line("killed in the tool: the turn ends after", func(t *total) string {
		if t.crash == nil {
			return ""
		}
		return fmt.Sprintf("%.1f s; %d further calls; %q", t.crash.after.Seconds(), t.crash.calls, t.crash.answer)
	})
}

// phaseLines prints the lines of a phase.
func phaseLines(name string, of func(*total) *phase, line func(string, func(*total) string)) {
	line(name+"message to idle, median", func(t *total) string { return of(t).quantile(0.5) })
	line(name+"message to idle, 99th percentile", func(t *total) string { return of(t).quantile(0.99) })
	line(name+"turns a second", func(t *total) string { return fmt.Sprintf("%.0f", of(t).rate()) })
	line(name+"processor time a turn", func(t *total) string {
		return fmt.Sprintf("%.1f ms", of(t).each(float64(of(t).CPU)/float64(time.Millisecond)))
	})
	line(name+"given to the disk a turn", func(t *total) string {
		return fmt.Sprintf("%.0f kB", of(t).each(float64(of(t).Written)/1000))
	})
	line(name+"stored a turn", func(t *total) string {
		return fmt.Sprintf("%.1f kB", of(t).each(float64(of(t).Stored)/1000))
	})
}

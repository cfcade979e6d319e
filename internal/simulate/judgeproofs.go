package simulate

import (
	"bytes"
	"strings"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/event"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/claim"
	"github.com/voicegw/voicegw/verify/netmodel"
	"github.com/voicegw/voicegw/voicenets"
	"github.com/voicegw/voicegw/voicenets/claims"
)

// watchedMin is the least number of proved properties that a monitor of a session must be able to
// see.
const watchedMin = 12

// properties are the proved ones that a monitor can see in a session without its environment, once
// for each net. w.mu is held.
func (w *world) properties(prog *petri.Program) []*verify.Property {
	if list, ok := w.proved[prog]; ok {
		return list
	}
	c := w.plan.gw.Net
	c.Greeting, c.HalfDuplex, c.Detection = w.plan.gw.Greeting != "", false, voicenets.ModelVAD
	for _, t := range prog.Transitions() {
		switch t.Name[strings.LastIndexByte(t.Name, '/')+1:] {
		case "start_turn":
			c.Detection = voicenets.GatewayVAD
		case "drop_frame_over_reply":
			c.HalfDuplex = true
		}
	}
	for p := range w.plan.gw.Prompts {
		c.Prompts = c.Prompts.With(p)
	}
	if len(w.plan.gw.Tools) > 0 && c.ToolSlots == 0 {
		c.ToolSlots = 4
	}
	w.inputs[prog] = inputTokens(c)
	var seen []*verify.Property
	model := netmodel.New(prog, netmodel.RunToCompletion)
	for _, part := range claims.Proofs(c, prog) {
		for _, p := range part.Props {
			if _, ok := p.Claim.(claim.Marking); !ok {
				continue
			}
			if _, err := claim.BadMarkings(p.Claim, model); err == nil { // it needs no automaton of the environment
				seen = append(seen, p)
			}
		}
	}
	w.proved[prog] = seen
	return seen
}

// judgeProofs wants every event to be a move of the net, every marking at rest to keep what is
// proved, and the archive to replay.
func (w *world) judgeProofs(s *caller) {
	t := s.trace
	if t.monitor == nil {
		return
	}
	w.summary.events.Add(int64(t.monitor.Events()))
	if t.foreign != "" {
		w.violationOf(s, "%s was injected, and the environment of the proofs has no such token", t.foreign)
	}
	err := t.monitor.End()
	if t.broken != nil {
		w.violationOf(s, "%v\n%s", t.broken, t.broken.Story)
	} else if err != nil {
		w.violationOf(s, "%v", err)
	}
	if !t.archived {
		return
	}
	if n, err := event.Replay(t.prog, bytes.NewReader(t.archive.Bytes())); err != nil || n != t.monitor.Events() {
		w.violationOf(s, "of %d events %d replayed: %v", t.monitor.Events(), n, err)
	}
}

// inputTokens are the kinds of tokens that may be injected into a session, as its net names them.
func inputTokens(c voicenets.Config) map[string]bool {
	names := map[string]bool{}
	for _, in := range voicenets.Inputs(c) {
		place := in.Place.String()
		switch {
		case in.Aged:
			names[place+"[fresh]"], names[place+"[stale]"] = true, true
		case in.Keys == nil:
			names[place] = true
		}
		for _, key := range in.Keys {
			names[place+"["+key+"]"] = true
		}
	}
	return names
}

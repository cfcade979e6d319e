package claims

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
	vclaim "github.com/voicegw/voicegw/verify/claim"
	"github.com/voicegw/voicegw/verify/explore"
	"github.com/voicegw/voicegw/verify/expr"
	"github.com/voicegw/voicegw/verify/netmodel"
	"github.com/voicegw/voicegw/verify/walk"
	"github.com/voicegw/voicegw/voicenets"
	"github.com/voicegw/voicegw/voicenets/internal/prune"
)

// whole is a small session whose graph is explored in full, closed with Contract but for some
// moves.
type whole struct {
	gone    []voicenets.Part // parts that it leaves out
	without string           // moves of the automata that do not happen
	settled string           // what is over when everybody but the session's timers is silent
	states  int              // markings, as docs/verification.md says
}

// ceiling is the most markings that one whole session may have.
const ceiling = 50_000

// wholes are the smallest sessions of use, with the least counts: the caller speaks, the model
// answers or not, the call ends. In "talk" the connection holds, but for when the session replaces
// it; the others leave out the recovery from a silent model, and let the network and the host do
// more.
func wholes() map[string]whole {
	const over = "quiet && !in_turn && !pending_speech && !confirming && !delaying_reply && !replying && " +
		"!reply_audio && !unacked && !unplayed && !end_marked && !discarding && !turn_end_pending && !reply_cut_short"
	return map[string]whole{
		"talk": {nil, "break answer_unreachable answer_refused give_handle go_away_soon go_away_later drain",
			over + " && !reply_pending && !reply_overdue && !nudged && !renewed && !unanswered", 33_519},
		"link": {[]voicenets.Part{voicenets.PartModelSilence},
			"answer_refused give_handle go_away_soon go_away_later drain", over, 28_754},
		"ending": {[]voicenets.Part{voicenets.PartModelSilence},
			"break answer_unreachable answer_refused give_handle go_away_later", over, 33_959},
		"resuming": {[]voicenets.Part{voicenets.PartModelSilence},
			"break answer_unreachable drain go_away_soon", over, 21_309},
	}
}

// net is the session, with some of its transitions changed or left out, in its environment, with
// every wait open.
func (w whole) net(t *testing.T, change func(*petri.Transition) bool) *petri.Program {
	t.Helper()
	c := voicenets.Config{Parts: map[voicenets.Part]func(voicenets.Config) *petri.Net{voicenets.PartText: nil,
		voicenets.PartTranscript: nil, voicenets.PartInputGate: nil, voicenets.PartDigits: nil,
		voicenets.PartPrompts: nil}}
	for _, p := range w.gone {
		c.Parts[p] = nil
	}
	c = small(c)
	session, err := voicenets.Session(c)
	if err != nil {
		t.Fatal(err)
	}
	for i, sub := range session.Nets {
		own := *sub
		own.Transitions = nil
		for _, tr := range sub.Transitions {
			if keep := change(&tr); keep {
				own.Transitions = append(own.Transitions, tr)
			}
		}
		session.Nets[i] = &own
	}
	n, err := closeContract(session, c)
	if err != nil {
		t.Fatal(err)
	}
	left := strings.Fields(w.without)
	for i, a := range n.Nets {
		if a.Name == "session" {
			continue
		}
		small := *a
		small.Transitions = prune.Keep(a.Transitions, func(t petri.Transition) bool {
			return !slices.Contains(left,
				t.Name)
		})
		used := mentions(&small)
		small.Ports = prune.Keep(a.Ports, func(p petri.AnyPlace) bool { return used[p.String()] })
		small.Init = prune.Keep(a.Init, func(t petri.Token) bool { return used[t.Place()] })
		small.Caps = prune.Keep(a.Caps, func(c petri.Cap) bool { return used[c.Place.String()] })
		n.Nets[i] = &small
	}
	return compile(t, relaxed(n), nil)
}

func unchanged(*petri.Transition) bool { return true }

// lacking leaves out transitions of a session.
func lacking(names ...string) func(*petri.Transition) bool {
	return func(t *petri.Transition) bool { return !slices.Contains(names, t.Name) }
}

// explored is the whole graph.
func explored(t *testing.T, p *petri.Program, most int) *explore.Graph {
	t.Helper()
	g, err := explore.Explore(context.Background(), p, explore.Options{Max: 2 * most})
	if err != nil {
		t.Fatal(err)
	}
	if !g.Complete || g.States() > most {
		t.Fatalf("%d markings, complete: %t; want %d at most", g.States(), g.Complete, most)
	}
	return g
}

// endTimers are the timers that end a call.
var endTimers = []string{"end_longest_call", "end_drain_in_time", "end_farewell_in_time"}

// unled are the markings with one condition from which none with another can be reached by steps
// that may be taken.
func unled(t *testing.T, g *explore.Graph, from, to string, may func(name string, outside bool) bool) (list []string) {
	t.Helper()
	holds := func(text string) []bool {
		e, err := expr.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		cond, err := g.Model.BindExpr(e)
		if err != nil {
			t.Fatal(err)
		}
		out := make([]bool, g.States())
		g.Each(func(i int, m []int32) bool { out[i] = cond.Holds(slices.Clone(m)); return true })
		return out
	}
	starts, good := holds(from), holds(to)
	back := make([][]int, g.States())
	for i := range g.States() {
		for _, e := range g.From(i) {
			t := e.Step.Transition
			if may(lastPart(g.Model.Transition(t)), g.Model.Outside(t)) {
				back[e.To] = append(back[e.To], i)
			}
		}
	}
	var todo []int
	for i, is := range good {
		if is {
			todo = append(todo, i)
		}
	}
	for len(todo) > 0 {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, j := range back[i] {
			if !good[j] {
				good[j], todo = true, append(todo, j)
			}
		}
	}
	for i, is := range starts {
		if is && !good[i] {
			list = append(list, g.Model.Format(g.Marking(i, nil)))
		}
	}
	return list
}

// Which steps may be taken: all but timers that end the call, timers of the session but for those,
// any.
func goesOn(name string, _ bool) bool      { return !slices.Contains(endTimers, name) }
func alone(name string, outside bool) bool { return !outside && !slices.Contains(endTimers, name) }
func whatever(string, bool) bool           { return true }

// home is a call at rest, with the connection that it has.
const home = "online && quiet && !in_turn && !reply_pending && !replying && !model_turn && !turn_end_pending && " +
	"!discarding && model_idle && !model_asked"

// answersAll are claims about moves: what a turn that waits, and a paused reply, come to.
func answersAll() []*verify.Property {
	return []*verify.Property{
		verify.EachMove(rule{name: "turn", changed: "reply_pending", when: "reply_pending",
			does: "+notify_reply[reply_started]|+notify_reply[reply_lost]|" +
				"+notify_mode[no_reply]|+in_turn|+to_model[activity_end]"}.move("contract")),
		verify.EachMove(rule{name: "pause", changed: "confirming", when: "confirming",
			does: "+notify_reply[reply_resumed]|+notify_reply[reply_cut]|+notify_reply[reply_complete]"}.move("contract")),
	}
}

// breaks are the markings before moves that break a claim, and whether it applied to any.
func breaks(t *testing.T, g *explore.Graph, p *verify.Property) (bad []string, applied bool) {
	t.Helper()
	claim, err := vclaim.BadMoves(p.Claim, g.Model)
	if err != nil {
		t.Fatal(err)
	}
	err = g.EachMove(context.Background(), func(_ int, from []int32, chain []netmodel.Step, to []int32) bool {
		if from == nil || !claim.Applies(from, chain, to) {
			return true
		}
		applied = true
		if claim.Bad(from, chain, to) {
			bad = append(bad, fmt.Sprint(g.Model.Format(from), " ", g.Model.Name(chain[0])))
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return bad, applied
}

// unprovoked are transitions of whole sessions that fire in none of them, and why.
func unprovoked() map[string]string {
	list := map[string]string{
		"withhold_dial": "a dial is withheld for a hold, protected input or consent alone",
		"drain_again":   "the gateway shuts down once",
		"end_farewell":  "last words that there is no prompt for end when their time is over",
		"ignore_stop":   "speech that ends has a turn, or waits for one",
	}
	for _, name := range []string{"take_note", "give_notes", "take_request", "make_request", "drop_request_full"} {
		list[name] = "only views send notes and requests: see unkept"
	}
	for _, name := range []string{"ignore_second_start", "ignore_edge_in_quiet", "finish_generation_again",
		"drop_unexpected_ack", "connect_resumed", "ignore_dial", "ignore_handle", "ignore_link_down"} {
		list[name] = "only a breach of protocol, or a token that comes late, makes it fire"
	}
	return list
}

// TestWholeSession explores whole sessions, not slices, in an environment that keeps its protocols.
func TestWholeSession(t *testing.T) {
	var graphs []*explore.Graph
	for name, w := range wholes() {
		t.Run(name, func(t *testing.T) {
			g := explored(t, w.net(t, unchanged), ceiling)
			if t.Logf("%d markings, %d edges", g.States(), g.Edges()); g.States() != w.states {
				t.Errorf("%d markings, and docs/verification.md says %d", g.States(), w.states)
			}
			for _, f := range g.Faults {
				t.Error(walk.Describe(g.Model, f.Fault))
			}
			graphs = append(graphs, g)
			for _, want := range []struct {
				what, from, to string
				may            func(string, bool) bool
			}{
				{"the end", "!ended", "ended", whatever},
				{"a call at rest", "!ended && !model_given_up && !farewell && !ending", home, goesOn},
				{"silence", "!ended && !model_given_up && !farewell && !ending", w.settled, alone},
			} {
				if list := unled(t, g, want.from, want.to, want.may); len(list) > 0 {
					t.Errorf("%d markings do not lead to %s: %s", len(list), want.what, list[0])
				}
			}
			for _, p := range answersAll() {
				bad, applied := breaks(t, g, p)
				if len(bad) > 0 || !applied {
					t.Errorf("%s: %d moves break it (applied: %t): %v", p.Name, len(bad), applied, bad[:min(2, len(bad))])
				}
			}
		})
	}
	fires := map[string]bool{}
	for _, g := range graphs {
		for i := range int32(g.Model.Count()) {
			if name := lastPart(g.Model.Transition(i)); !g.Model.Outside(i) {
				fires[name] = fires[name] || g.Fires(i)
			}
		}
	}
	for name, is := range fires {
		if why := unprovoked()[name]; is == (why != "") {
			t.Errorf("%s fires: %t, reason why not: %q", name, is, why)
		}
	}
}

// TestWholeSessionNotices: a session that lacks something, or says something else, is refuted by
// one of the claims on whole sessions.
func TestWholeSessionNotices(t *testing.T) {
	talk := wholes()["talk"]
	for name, test := range map[string]struct {
		change   func(*petri.Transition) bool
		from, to string
		may      func(string, bool) bool
	}{
		"the end": {func(t *petri.Transition) bool {
			if t.Name == "end_call" {
				t.Read = append(slices.Clone(t.Read), voicenets.Quiet) // and then not even hanging up ends it
			}
			return !slices.Contains(endTimers, t.Name) && t.Name != "end_speech_without_frames" && t.Name != "hand_off"
		}, "!ended && over", "ended", goesOn},
		"a call at rest": {lacking("replace_link"),
			"!ended", home, goesOn},
		"a model that falls silent in its reply": {lacking("presume_turn_complete", "age_link"),
			"replying && !ended", talk.settled, alone},
		"a peer that acknowledges nothing any more": {lacking("presume_played"),
			"unacked && !ended", talk.settled, alone},
		"a model that never replies": {lacking("reach_deadline"),
			"reply_pending && !ended", talk.settled, alone},
		"frames that stop": {lacking("end_speech_without_frames"),
			"speaking && !ended", talk.settled, alone},
	} {
		g := explored(t, talk.net(t, test.change), 4*ceiling)
		if len(unled(t, g, test.from, test.to, test.may)) == 0 {
			t.Errorf("%s: nothing is noticed", name)
		}
	}
	silent := func(name string) func(*petri.Transition) bool {
		return func(t *petri.Transition) bool {
			if t.Name == name {
				t.Action = func(*petri.Firing) {}
				t.Out = petri.And(prune.Keep(t.Out.Arcs(), func(a petri.AnyArc) bool {
					place := petri.ArcPlace(a).String()
					return place != string(voicenets.NotifyReply) && place != string(voicenets.NotifyMode)
				})...)
			}
			return true
		}
	}
	for claim, transition := range map[int]string{0: "report_at_deadline", 1: "resume_unconfirmed"} {
		g := explored(t, talk.net(t, silent(transition)), 4*ceiling)
		if bad, _ := breaks(t, g, answersAll()[claim]); len(bad) == 0 {
			t.Errorf("nothing notices that %s tells nobody", transition)
		}
	}
}

// unkept are inputs, or kinds of them, that Contract never sends, and why.
func unkept(c voicenets.Config) map[string]string {
	list := map[string]string{
		string(voicenets.CallerAudio): "frames decide nothing: what becomes of one is looked up in every marking",
		string(voicenets.Transcript):  "words decide nothing",
		string(voicenets.Note):        "a note changes nothing of what is said; views send it",
		string(voicenets.Request):     "it is a turn as typed text makes it, and makes the graphs too large; views send it",
	}
	list[string(voicenets.ToolDone)+"_"+itoa(c.ToolSlots)] = "no function runs in a slot that the session does not have"
	if full, err := c.Filled(); err == nil && full.Prompts == 0 {
		list[string(voicenets.PromptAudio)], list[string(voicenets.PromptEnd)] = "no prompt is asked for",
			"no prompt is asked for"
	}
	for _, e := range []voicenets.End{voicenets.MaxDuration, voicenets.Transferred, voicenets.CallerSilent,
		voicenets.NoConsent} {
		list[string(voicenets.Over)+"_"+e.String()] = "the net alone ends a call so"
	}
	return list
}

// TestContractInputs: Contract sends each kind of token that may be injected, or it stands in a
// list why not; and it sends nothing else.
func TestContractInputs(t *testing.T) {
	for name, c := range variants() {
		n, err := Contract(c)
		p := compile(t, n, err)
		sent := map[string]bool{}
		for _, tr := range p.Transitions() {
			for _, a := range tr.Arcs {
				place := p.Places()[a.Place].Name
				if strings.HasPrefix(tr.Group, "session") || a.Kind != petri.OutArc {
					continue
				}
				sent[place] = true
				for _, key := range strings.FieldsFunc(a.Label, func(r rune) bool { return strings.ContainsRune("[, ]", r) }) {
					sent[place+"_"+key] = true
				}
			}
		}
		may := map[string]bool{}
		for _, in := range voicenets.Inputs(c) {
			place := in.Place.String()
			kinds := []string{place}
			for _, key := range in.Keys {
				kinds = append(kinds, place+"_"+key)
			}
			for _, kind := range kinds {
				may[kind] = true
				reason := cmp.Or(unkept(c)[kind], unkept(c)[place])
				if p.Place(place) >= 0 && sent[kind] != (reason == "") {
					t.Errorf("%s: %s is sent: %t, reason why not: %q", name, kind, sent[kind], reason)
				}
			}
		}
		for i, place := range p.Places() {
			if sent[place.Name] && place.Env && !may[p.Places()[i].Name] {
				t.Errorf("%s: nothing injects %s", name, place.Name)
			}
		}
	}
}

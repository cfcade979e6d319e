package simulate

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap/zapcore"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/event"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/verify/monitor"
	"github.com/voicegw/voicegw/voicenets"
)

// TestJudges checks that each judge refuses what it must refuse: every case spoils one thing of a
// made-up call that all judges accept, and there must be exactly one violation.
func TestJudges(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, c := range slices.Concat(endCases(), netCases(), replyCases(), speechCases(), modelCases(), leakCases()) {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, s := soundCall(t)
				if c.spoil != nil {
					c.spoil(w, s)
				}
				w.judge()
				switch {
				case c.want == "":
					if len(w.violations) > 0 {
						t.Errorf("violations %q", w.violations)
					}
				case len(w.violations) != 1 || !strings.Contains(w.violations[0], c.want):
					t.Errorf("violations %q; want one of %q", w.violations, c.want)
				default:
					seen[w.violations[0]] = true
				}
			})
		})
	}
	for format, at := range violationFormats(t) {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(seen)), regexp.MustCompile(format).MatchString) {
			t.Errorf("%s: no case for %s", at, format)
		}
	}
}

// judgedFiles are those whose violations need a case. Those of the others are about the simulation
// itself.
func judgedFiles() []string {
	return []string{"judge*.go", "caller.go", "line.go", "model.go", "modelconn.go", "tools.go"}
}

// violationFormats returns regular expressions for the texts of all violations, and where they are.
func violationFormats(t *testing.T) map[string]token.Position {
	t.Helper()
	out, set := map[string]token.Position{}, token.NewFileSet()
	for _, pattern := range judgedFiles() {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v, %v", pattern, files, err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(set, name, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok {
					if format := violationFormat(call); format != "" {
						out[format] = set.Position(call.Pos())
					}
				}
				return true
			})
		}
	}
	if len(out) < 40 {
		t.Fatalf("only %d violations found", len(out))
	}
	return out
}

// violationFormat is the regular expression of a violation, or "".
func violationFormat(call *ast.CallExpr) string {
	name := ""
	switch f := call.Fun.(type) {
	case *ast.SelectorExpr:
		name = f.Sel.Name
	case *ast.Ident:
		name = f.Name
	}
	if !slices.Contains([]string{"violation", "violationOf", "require", "atMost"}, name) {
		return ""
	}
	for _, arg := range call.Args {
		if lit, ok := arg.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			format, _ := strconv.Unquote(lit.Value)
			return "(?s)" + regexp.MustCompile(`%[a-z]`).ReplaceAllString(regexp.QuoteMeta(format), ".*")
		}
	}
	return ""
}

// A judgeCase spoils a call.
type judgeCase struct {
	name, want string // want: the only violation contains it; empty: there is none
	spoil      func(w *world, s *caller)
}

// sessionOfJudges is the net of the made-up call.
var sessionOfJudges = sync.OnceValue(func() *petri.Program {
	net, err := voicenets.Session(voicenets.Config{Consent: true, MaxDuration: time.Hour})
	if err != nil {
		panic(err)
	}
	prog, err := petri.Compile(net)
	if err != nil {
		panic(err)
	}
	return prog
})

// soundCall is a world of one call that is over after ten seconds, in which nothing was said.
func soundCall(t *testing.T) (*world, *caller) {
	const length = 10 * time.Second
	prog := sessionOfJudges()
	p := &callPlan{hello: transport.Hello{InputRateHz: 16000, OutputRateHz: modelRateHz}, good: true, sound: true,
		budget: 10, peer: goodPeer(1), steps: []step{{do: doBye}}}
	w := &world{t: t, plan: &worldPlan{tools: &toolSet{timeout: time.Second, quick: map[string]bool{"book": true}}},
		summary: newSummary(0), log: newLogCapture()}
	s := newCaller(p, nil)
	s.model.tools = w.plan.tools
	s.model.dials = dials{n: 1, open: 1, closed: 1, last: s.line.now(), credit: dialsMax * dialEvery}
	watched := newTrace(prog)
	s.trace = watched
	time.Sleep(length)
	s.hungUp, s.ended = length, length
	_ = s.line.Ready(t.Context(), transport.Ready{})
	s.line.reason, s.line.over = transport.ReasonCallerHungUp, length
	w.callers = []*caller{s}
	w.records = []voicegw.Record{{Call: "c", Labels: map[string]string{"n": "0"}, Reason: s.line.reason.String()}}
	w.log.all.lines = []logLine{{what: "call ended",
		fields: map[string]any{"call": "c", "reason": s.line.reason.String()}}}
	w.traces = map[string]*trace{"c": watched}
	var err error
	if watched.monitor, err = monitor.New(prog); err != nil {
		t.Fatal(err)
	}
	events := startEvents(prog)
	watched.archived = true
	event.NewArchive(&watched.archive, prog, event.ArchiveConfig{}).Append(events)
	watched.Append(events)
	return w, s
}

// startEvents are the events of the start of a net.
func startEvents(prog *petri.Program) []petri.Event {
	return slices.Clone(prog.Start().Advance(0).Events)
}

// fired is the firing of a transition, or of one that fills a place.
func fired(prog *petri.Program, name string) petri.Event {
	for i, t := range prog.Transitions() {
		if strings.HasSuffix(t.Name, "/"+name) {
			return petri.Event{Kind: petri.Fired, Index: int32(i)}
		}
		for mode, m := range t.Modes {
			for branch, b := range m.Branches {
				for _, emit := range b.Emit {
					if prog.Places()[emit.Place].Name == name {
						return petri.Event{Kind: petri.Fired, Index: int32(i), Mode: uint16(mode), Branch: uint8(branch)}
					}
				}
			}
		}
	}
	panic("no transition " + name)
}

// during lets a part of the call happen while it is not over.
func during(f func(w *world, s *caller)) func(*world, *caller) {
	return func(w *world, s *caller) {
		reason := s.line.reason
		s.line.reason = transport.ReasonNone
		f(w, s)
		s.line.reason = reason
	}
}

// endCases are those of the end of a call.
func endCases() []judgeCase {
	endsBy := func(w *world, s *caller, reason transport.Reason) {
		s.line.reason, w.records[0].Reason = reason, reason.String()
		w.log.all.lines[0].fields["reason"] = reason.String()
	}
	return []judgeCase{
		{"a sound call", "", nil},
		{"no record", "call 0 has no record", func(w *world, s *caller) { w.records, s.err = nil, errors.New("lost") }},
		{"no record at the close", "", func(w *world, s *caller) {
			w.records, s.err, w.plan.closes = nil, voicegw.ErrClosed, time.Second
		}},
		{"no trace", "its net was not watched", func(w *world, _ *caller) { clear(w.traces) }},
		{"an error in the log", "the log has an error: boom", func(w *world, _ *caller) {
			w.log.all.lines = append(w.log.all.lines, logLine{level: zapcore.ErrorLevel, what: "boom"})
		}},
		{"the record differs", "the peer was sent caller_hung_up, the record says done", func(w *world, _ *caller) {
			w.records[0].Reason = "done"
			w.log.all.lines[0].fields["reason"] = "done"
		}},
		{"an internal error", "the peer was sent internal, the record says internal", func(w *world, s *caller) {
			s.hungUp = 0
			endsBy(w, s, transport.ReasonInternal)
		}},
		{"not the script's reason", "it ended by done, and should by caller_hung_up", func(w *world, s *caller) {
			endsBy(w, s, transport.ReasonDone)
		}},
		{"not the script's reason, at the close", "", func(w *world, s *caller) {
			w.plan.closes = time.Second
			endsBy(w, s, transport.ReasonGoingAway)
		}},
		{"not the net's reason", "its net ended it by transferred, and the record says caller_hung_up",
			func(_ *world, s *caller) { s.hungUp, s.trace.end.ended = 0, "transferred" }},
		{"not in the log", "the log has 0 lines", func(w *world, _ *caller) { w.log.all.lines = nil }},
		{"twice in the log", "the log has 2 lines", func(w *world, _ *caller) {
			w.log.all.lines = slices.Repeat(w.log.all.lines, 2)
		}},
		{"ended late", "it ended 4s after it was hung up", func(_ *world, s *caller) { s.hungUp -= endMax + time.Second }},
		{"speech after the end", "speech came 100ms after it was hung up", func(_ *world, s *caller) {
			s.line.sounded = s.hungUp + 2*tailMax
		}},
		{"a line that stays taken", "its line was free 1m0s after its end", func(_ *world, s *caller) {
			s.ended += time.Minute
		}},
		{"never ended", "the call goes on 8s after it was ended", func(_ *world, s *caller) {
			s.act()
			s.hungUp = 0
		}},
		{"not heard", "what was said from 1s to 2s was not heard", func(_ *world, s *caller) {
			s.asked = []question{{from: time.Second, to: 2 * time.Second}}
		}},
		{"not heard, muted", "", func(_ *world, s *caller) {
			s.asked = []question{{from: time.Second, to: 2 * time.Second, muted: true}}
		}},
		{"not answered", "what was said from 1s to 2s was not answered", func(_ *world, s *caller) {
			s.asked = []question{{from: time.Second, to: 2 * time.Second}}
			s.trace.turns = []time.Time{s.line.began.Add(time.Second)}
		}},
		{"answered", "", func(_ *world, s *caller) {
			s.asked = []question{{from: time.Second, to: 2 * time.Second}}
			s.trace.turns = []time.Time{s.line.began.Add(time.Second)}
			s.line.answers = []time.Duration{3 * time.Second}
		}},
		{"not noticed", "nobody notices that the caller speaks, since 10s", during(func(_ *world, s *caller) {
			time.Sleep(2 * noticedWithin)
			s.line.judgeNoticed(time.Second)
		})},
	}
}

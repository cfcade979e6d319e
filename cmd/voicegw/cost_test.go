//go:build unix

package main

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/voicegw/voicegw/live/sim"
)

// costly is a `serve` with every endpoint open, and nobody else in its process: its model and its
// callers are in that of the test.
type costly struct {
	*process
	model *sim.Server
	url   string // http://127.0.0.1:PORT/
	admin string
	held  int // calls
}

// startCostly starts one that takes calls however busy the machine is.
func startCostly(tb testing.TB, binary string, env ...string) *costly {
	tb.Helper()
	model, err := sim.New(sim.Config{})
	if err != nil {
		tb.Fatal(err)
	}
	if err := model.Start("127.0.0.1:0"); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = model.Close() })
	p := startWith(tb, binary, slices.Concat(oneKind, env), nil, "serve", "--listen", "127.0.0.1:0",
		"--admin-listen", "127.0.0.1:0", "--model-base-url", model.URL(),
		"--endpoints", "webrtc,twilio,asterisk,gemini,openai,rtvi",
		"--access-cpu-max", "200", "--access-late-max", "1m")
	s := &costly{process: p, model: model}
	s.url = regexp.MustCompile(`http://127\.0\.0\.1:\d+/`).FindString(p.line())
	const told = "the admin listener is at "
	p.stderr.waitFor(tb, told)
	s.admin, _, _ = strings.Cut(p.stderr.String()[strings.Index(p.stderr.String(), told)+len(told):], "\n")
	return s
}

// metric is what the process says of itself.
func (s *costly) metric(name string) float64 {
	s.tb.Helper()
	_, body := fetchText(s.tb, s.admin+"metrics")
	m := regexp.MustCompile(`(?m)^` + name + ` (\S+)$`).FindStringSubmatch(body)
	if m == nil {
		s.tb.Fatalf("there is no %s in\n%s", name, body)
	}
	v, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		s.tb.Fatal(err)
	}
	return v
}

// hold places n more calls, and returns when the model of each was sent something after its setup.
func (s *costly) hold(d *wayIn, n int) {
	s.tb.Helper()
	for range n {
		d.call(s)
	}
	s.held += n
	const setup, accepted = 1, 1 // events
	running := func() (calls int) {
		for _, c := range s.model.Connections() {
			if len(c.Events) > setup+accepted {
				calls++
			}
		}
		return calls
	}
	if !waitFor(func() bool { return running() == s.held }, patience) {
		s.tb.Fatalf("%d calls run; want %d\n%s", running(), s.held, s.stderr.String())
	}
}

// goroutines counts the goroutines of the process by what they run: the outermost function of each.
func (s *costly) goroutines() map[string]int {
	s.tb.Helper()
	code, stacks := fetchText(s.tb, s.admin+"debug/pprof/goroutine?debug=2")
	if code != 200 {
		s.tb.Fatalf("the goroutines: %d\n%s", code, stacks)
	}
	counts := make(map[string]int)
	for _, stack := range strings.Split(stacks, "\n\n") {
		if name := outermost(stack); name != "" {
			counts[name]++
		}
	}
	return counts
}

// outermost is the first function of a goroutine, beside sync's and the runtime's; "" when there is
// none.
func outermost(stack string) (name string) {
	if !regexp.MustCompile(`^\s*goroutine \d+`).MatchString(stack) {
		return ""
	}
	for line := range strings.Lines(stack) {
		call := regexp.MustCompile(`^([a-z][\w./]*\.[^\t]+?)\([^()]*\)\s*$`).FindStringSubmatch(line)
		if call != nil && !strings.HasPrefix(call[1], "sync.") && !strings.HasPrefix(call[1], "runtime.") {
			name = call[1]
		}
	}
	return strings.TrimPrefix(name, "github.com/")
}

// costCalls is how many calls the goroutines are counted of. What not every call has passes, and what only its start
// needs ends.
const costCalls = 4

// TestGoroutinesPerCall counts the goroutines of a process by what they run. A call has six behind any endpoint. Its
// endpoint has one for each direction at most, beside the one that carries the call: of net/http, or of WebRTC's
// endpoint. WebRTC has one more for its reports, and one for its data channel.
func TestGoroutinesPerCall(t *testing.T) {
	t.Parallel()
	for _, d := range waysIn() {
		t.Run(d.name, func(t *testing.T) {
			s := startCostly(t, noProof)
			s.hold(&d, costCalls)
			var wrong []string
			right := func() bool {
				wrong = d.differences(s.goroutines())
				return len(wrong) == 0
			}
			if !waitFor(right, patience) {
				t.Error(strings.Join(wrong, "\n"))
			}
			for name, n := range s.goroutines() {
				if n /= costCalls; n > 0 {
					t.Logf("%d a call: %s", n, name)
				}
			}
		})
	}
}

// differences says how the goroutines of costCalls calls, by what they run, are not those of this way in.
func (d *wayIn) differences(goroutines map[string]int) (wrong []string) {
	got := map[string]int{}
	for name, n := range goroutines {
		got[maker(name)] += n / costCalls
	}
	want := map[string]int{"the call": sessionGoroutines, "the endpoint": d.ours, "net/http": d.requests, "other": 0}
	for of, n := range want {
		if got[of] != n {
			wrong = append(wrong, fmt.Sprintf("%d goroutines a call of %s; want %d", got[of], of, n))
		}
	}
	if got["WebRTC"] > d.library {
		wrong = append(wrong, fmt.Sprintf("%d goroutines a call of the WebRTC library; want at most %d", got["WebRTC"],
			d.library))
	}
	if len(wrong) > 0 {
		for name, n := range goroutines {
			wrong = append(wrong, fmt.Sprintf("%d of %s: %s", n, maker(name), name))
		}
	}
	return wrong
}

// maker says whose a goroutine is.
func maker(name string) string {
	switch {
	case strings.HasPrefix(name, "pion/"), strings.HasPrefix(name, "context."): // its ICE is a context of its own kind
		return "WebRTC"
	case strings.HasPrefix(name, "net/http."):
		return "net/http"
	case strings.HasPrefix(name, "voicegw/voicegw/transport/"):
		return "the endpoint"
	case strings.HasPrefix(name, "voicegw/voicegw"):
		return "the call"
	}
	return "other"
}

// BenchmarkServe is what a call takes of a process that has neither its caller nor its model:
// processor time for a second of a call, what is resident, and what a collection of garbage leaves.
// Callers ask a question every seven seconds, in real time; a run takes twenty seconds. Ten calls
// warm the process up, twenty more are measured.
func BenchmarkServe(b *testing.B) {
	const warm, calls, length = 10, 20, 20 * time.Second
	for _, d := range waysIn() {
		b.Run(d.name, func(b *testing.B) {
			s := startCostly(b, binary)
			s.hold(&d, warm)
			time.Sleep(length / 2) // until memory has grown
			resident, live := s.memory()
			s.hold(&d, calls)
			time.Sleep(length / 2)
			turns := s.turns()
			cpu, began := s.metric("process_cpu_seconds_total"), time.Now()
			for b.Loop() {
				time.Sleep(length)
			}
			took := (s.metric("process_cpu_seconds_total") - cpu) * 1000
			seconds := time.Since(began).Seconds() * (warm + calls)
			b.ReportMetric(took/seconds, "cpu-ms/call-s")
			b.ReportMetric(float64(s.turns()-turns)*60/seconds, "turns/call-min") // 8 when callers and model keep their time
			moreResident, moreLive := s.memory()
			b.ReportMetric((moreResident-resident)/calls/1024, "resident-KiB/call")
			b.ReportMetric((moreLive-live)/calls/1024, "live-KiB/call")
			all := 0
			for _, n := range s.goroutines() {
				all += n / (warm + calls)
			}
			b.ReportMetric(float64(all), "goroutines/call")
		})
	}
}

// turns is how many turns the model has heard.
func (s *costly) turns() (n int) {
	for _, c := range s.model.Connections() {
		n += len(c.Turns)
	}
	return n
}

// memory is what of the process is in memory, and what its last collection of garbage found in use,
// in bytes.
func (s *costly) memory() (resident, live float64) {
	s.tb.Helper()
	grows := 1 + s.metric("go_gc_gogc_percent")/100
	return s.metric("process_resident_memory_bytes"), s.metric("go_memstats_next_gc_bytes") / grows
}

// TestCollectsEarly has serve collect its garbage sooner than Go would, unless it is told how.
func TestCollectsEarly(t *testing.T) {
	t.Parallel()
	for want, env := range map[float64][]string{35: nil, 120: {"GOGC=120"}} {
		s := startCostly(t, binary, env...)
		if got := s.metric("go_gc_gogc_percent"); got != want {
			t.Errorf("with %q it collects at %v %%, want %v", env, got, want)
		}
		s.signal(syscall.SIGINT)
	}
}

// fetchText requests a URL without keeping the connection.
func fetchText(tb testing.TB, url string) (status int, body string) {
	tb.Helper()
	client := &http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}
	return request(tb, client, http.MethodGet, url, "")
}

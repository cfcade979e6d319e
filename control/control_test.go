package control_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/control"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/live/sim"
	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/event"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/ws"
	"github.com/voicegw/voicegw/voicenets"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// desk is a gateway with the control of its calls.
type desk struct {
	testing.TB
	model   *sim.Server
	voice   string
	control http.Handler
	audit   *observer.ObservedLogs
	ended   chan voicegw.Record
	blocked atomic.Pointer[blockage]
}

// blockage is a call whose store blocks.
type blockage struct {
	call    string
	release chan struct{}
}

// watch returns a store that blocks the net of the call of d.blocked.
func (d *desk) watch(call string, _ *petri.Program) event.Store { return blocking{d: d, call: call} }

type blocking struct {
	d    *desk
	call string
}

func (b blocking) Append([]petri.Event) {
	if at := b.d.blocked.Load(); at != nil && at.call == b.call {
		<-at.release
	}
}

func (blocking) Stored() uint64 { return math.MaxUint64 }

// newDesk starts a gateway whose calls belong to the tenant that their client names.
func newDesk(tb testing.TB, targets func() map[string]string) *desk {
	tb.Helper()
	model, err := sim.New(sim.Config{Greeting: make([]int16, 24000), GreetingText: "Hello.", Speed: 100})
	if err == nil {
		err = model.Start("127.0.0.1:0")
	}
	if err != nil {
		tb.Fatal(err)
	}
	core, logs := observer.New(zapcore.InfoLevel)
	d := &desk{TB: tb, model: model, audit: logs, ended: make(chan voicegw.Record, 4)}
	gw, err := voicegw.New(voicegw.Config{Dialer: live.Wire{BaseURL: model.URL()}, Net: voicenets.Config{Consent: true},
		Watch: d.watch,
		Hooks: voicegw.Hooks{
			Begin: func(_ context.Context, h *transport.Hello) (*voicegw.Plan, error) {
				return &voicegw.Plan{Labels: map[string]string{control.TenantLabel: h.Client}}, nil
			},
			Ended: func(r voicegw.Record) { d.ended <- r },
		}})
	if err != nil {
		tb.Fatal(err)
	}
	d.control, err = control.New(control.Config{Gateway: gw, Targets: targets, Audit: zap.New(core),
		Authorize: func(r *http.Request) (control.Actor, error) {
			name := r.Header.Get("Authorization")
			if name == "" {
				return control.Actor{}, errors.New("who are you?")
			}
			tenant, _ := strings.CutPrefix(name, "tenant ")
			if tenant == name {
				tenant = ""
			}
			return control.Actor{Name: name, Tenant: tenant}, nil
		}})
	if err != nil {
		tb.Fatal(err)
	}
	server := httptest.NewServer(gw)
	d.voice = server.URL + "/v1/voice"
	tb.Cleanup(func() {
		_ = gw.Close()
		server.Close()
		_ = model.Close()
	})
	return d
}

// call calls for a tenant and returns the messages that the caller gets. The caller plays what it hears at once.
func (d *desk) call(tenant string) <-chan transport.Message {
	d.Helper()
	c, err := ws.Dial(d.Context(), d.voice, transport.Hello{InputRateHz: 8000, OutputRateHz: 8000, Client: tenant},
		ws.DialConfig{})
	if err != nil {
		d.Fatal(err)
	}
	messages, over := make(chan transport.Message, 1000), make(chan struct{})
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer close(over)
		defer close(messages)
		played := map[uint64]int64{}
		for {
			var m transport.Message
			if err := c.Recv(ctx, &m); err != nil {
				return
			}
			messages <- m
			ack := transport.Event{Kind: transport.EventAck, Generation: m.Generation}
			switch m.Kind {
			case transport.MessageAudio:
				played[m.Generation] += int64(len(m.PCM) / 8)
			case transport.MessageMark:
				ack.Mark = m.ID
			default:
				continue
			}
			ack.PlayedMS = played[m.Generation]
			if err := c.SendEvent(ctx, &ack); err != nil {
				return
			}
		}
	}()
	d.Cleanup(func() {
		cancel()
		_ = c.Close()
		<-over
	})
	return messages
}

// do makes a request as somebody, and returns the status and the answer.
func (d *desk) do(who, method, path, body string) (int, string) {
	code, out, _ := d.answer(who, method, path, body)
	return code, out
}

// answer is do, with the header of the answer.
func (d *desk) answer(who, method, path, body string) (int, string, http.Header) {
	r := httptest.NewRequest(method, "http://127.0.0.1"+path, strings.NewReader(body))
	if who != "" {
		r.Header.Set("Authorization", who)
	}
	w := httptest.NewRecorder()
	d.control.ServeHTTP(w, r)
	out, err := io.ReadAll(w.Result().Body)
	if err != nil {
		d.Fatal(err)
	}
	return w.Code, string(out), w.Header()
}

// calls waits until n calls are listed for somebody, and returns them.
func (d *desk) calls(who string, n int) []control.Call {
	d.Helper()
	var list struct {
		Calls []control.Call `json:"calls"`
		More  bool           `json:"has_more"`
	}
	d.until(fmt.Sprintf("%d calls are listed", n), func() bool {
		_, out := d.do(who, "GET", "/v1/calls", "")
		list.Calls = nil
		if err := json.Unmarshal([]byte(out), &list); err != nil || list.More {
			d.Fatalf("%s: %v", out, err)
		}
		return len(list.Calls) == n
	})
	return list.Calls
}

// until polls, because nobody tells when a request has reached the net.
func (d *desk) until(what string, ok func() bool) {
	d.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(time.Minute); !ok(); <-tick.C {
		if time.Now().After(end) {
			d.Fatalf("it does not come to this: %s", what)
		}
	}
}

// state waits until a call is in a state.
func (d *desk) state(id, want string, is func(voicegw.State) bool) {
	d.Helper()
	d.until("the call is "+want, func() bool {
		_, out := d.do("root", "GET", "/v1/calls/"+id, "")
		var c control.Call
		if err := json.Unmarshal([]byte(out), &c); err != nil {
			d.Fatalf("%s: %v", out, err)
		}
		return c.State != nil && is(*c.State)
	})
}

// TestControl steers a call from its consent to its end, and finds each step in the audit log.
func TestControl(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	messages := d.call("acme")
	id := d.calls("root", 1)[0].ID
	at := "/v1/calls/" + id + "/"
	d.state(id, "without consent", func(s voicegw.State) bool { return s.Unconsented && s.InputClosed })
	steps := []struct {
		action, body, want string
		is                 func(voicegw.State) bool
	}{
		{"consent", `{"on":true}`, "open", func(s voicegw.State) bool { return !s.Unconsented && !s.InputClosed }},
		{"mute", `{"on":true}`, "muted", func(s voicegw.State) bool { return s.InputClosed && !s.OnHold }},
		{"mute", `{"on":false}`, "open", func(s voicegw.State) bool { return !s.InputClosed }},
		{"hold", `{"on":true}`, "on hold", func(s voicegw.State) bool { return s.OnHold && s.InputClosed }},
		{"hold", `{"on":false}`, "open", func(s voicegw.State) bool { return !s.OnHold }},
		{"protect", `{"on":true}`, "protected", func(s voicegw.State) bool { return s.Protected && s.InputClosed }},
		{"protect", `{"on":false}`, "open", func(s voicegw.State) bool { return !s.Protected }},
		{"ask", `{"text":"Where is my order?"}`, "online", func(s voicegw.State) bool { return s.ModelOnline }},
		{"tell", `{"text":"The order is late.","role":"system"}`, "online", func(s voicegw.State) bool {
			return s.ModelOnline
		}},
		{"say", `{"text":"Say that we are sorry."}`, "listening again", func(s voicegw.State) bool {
			return s.Phase == voicegw.PhaseListening
		}},
	}
	for _, step := range steps {
		if code, out := d.do("root", "POST", at+step.action, step.body); code != http.StatusOK {
			t.Fatalf("%s %s: %d %s", step.action, step.body, code, out)
		}
		d.state(id, step.want, step.is)
	}
	if code, out := d.do("root", "POST", at+"hand-off", `{"target":"sip:desk@example.com"}`); code != http.StatusOK {
		t.Fatalf("hand-off: %d %s", code, out)
	}
	if r := <-d.ended; r.Call != id || r.Reason != "transferred" {
		t.Errorf("the call ended as %+v", r)
	}
	var transferred bool
	for m := range messages {
		transferred = transferred || m.Kind == transport.MessageTransfer && m.Text == "sip:desk@example.com"
	}
	if !transferred {
		t.Error("the caller did not get the target")
	}
	var told []string
	for _, e := range d.audit.All() {
		f := e.ContextMap()
		if f["actor"] != "root" || f["call"] != id || f["done"] != true || strings.Contains(fmt.Sprint(f), "order") {
			t.Errorf("the audit log has %v", f)
		}
		told = append(told, fmt.Sprint(f["action"]))
	}
	if got := strings.Join(told, " "); got != "consent mute mute hold hold protect protect ask tell say hand-off" {
		t.Errorf("the audit log has %s", got)
	}
}

// TestTenants: who may see the calls of a tenant sees and steers no other.
func TestTenants(t *testing.T) {
	t.Parallel()
	d := newDesk(t, theDesk)
	d.call("acme")
	d.call("globex")
	own := d.calls("tenant acme", 1)[0]
	if own.Labels[control.TenantLabel] != "acme" || own.Client != "acme" {
		t.Errorf("acme sees %+v", own)
	}
	for _, c := range d.calls("root", 2) {
		want := http.StatusOK
		if c.ID != own.ID {
			want = http.StatusNotFound
		}
		for method, path := range map[string]string{"GET": "", "POST": "/hang-up"} {
			if code, out := d.do("tenant acme", method, "/v1/calls/"+c.ID+path, ""); code != want {
				t.Errorf("%s %s%s of %s: %d %s, want %d", method, c.ID, path, c.Client, code, out, want)
			}
		}
	}
	if r := <-d.ended; r.Call != own.ID {
		t.Errorf("%+v ended", r)
	}
	d.calls("root", 1)
}

// TestRefusals: each answer names what is wrong and what would be right.
func TestRefusals(t *testing.T) {
	t.Parallel()
	d := newDesk(t, theDesk)
	d.call("acme")
	at := "/v1/calls/" + d.calls("root", 1)[0].ID
	for _, c := range []struct {
		who, method, path, body string
		code                    int
		want                    string
	}{
		{"", "GET", "/v1/calls", "", 401, "who are you?"},
		{"root", "GET", "/v1/calls/c-none", "", 404, `no call \"c-none\" is up`},
		{"root", "DELETE", at, "", 404, "there is no DELETE /v1/calls/"},
		{"root", "POST", at + "/explode", "", 404, `there is no action \"explode\"; there are: ask, consent, hand-off`},
		{"root", "POST", at + "/hold", "", 400, "on: it is missing; this action takes on (true or false)"},
		{"root", "POST", at + "/hold", `{"on":1}`, 400, "on: "},
		{"root", "POST", at + "/hold", `{"On":true}`, 400, `did you mean \"on\"?`},
		{"root", "POST", at + "/hang-up", `{"text":"x"}`, 400, "text: this action takes nothing"},
		{"root", "POST", at + "/ask", `{"text":"` + strings.Repeat("x", 4001) + `"}`, 400, "the text has 4001 characters"},
		{"root", "POST", at + "/ask", `{"text":"hello"}`, 409, "has not agreed"},
		{"root", "POST", at + "/tell", `{"text":"x","role":"boss"}`, 400, "user, system and assistant are possible"},
		{"root", "POST", at + "/hand-off", `{"target":"nobody"}`, 400, `there is no \"nobody\"; there are: desk`},
		{"root", "POST", at + "/ask", `{"text":"` + strings.Repeat("x", 70_000) + `"}`, 413, "exceeds 65536 bytes"},
	} {
		code, out := d.do(c.who, c.method, c.path, c.body)
		if code != c.code || !strings.Contains(out, c.want) || !strings.HasPrefix(out, `{"error":{"code":"`) {
			t.Errorf("%s %s %.60s: %d %s, want %d with %q", c.method, c.path, c.body, code, out, c.code, c.want)
		}
	}
	for _, e := range d.audit.All() { // refused by the call itself
		if e.ContextMap()["done"] != false {
			t.Errorf("the audit log has %v", e.ContextMap())
		}
	}
	if n := d.audit.Len(); n != 4 {
		t.Errorf("the audit log has %d lines, want 4: too long, no consent, a wrong role, a wrong target", n)
	}
	if _, err := control.New(control.Config{}); err == nil {
		t.Error("an empty Config is accepted")
	}
}

// theDesk is the only target.
func theDesk() map[string]string { return map[string]string{"desk": "sip:desk@example.com"} }

// TestTargetsReadOnce: targets that go while a tenant's request is under way do not let it name any address.
func TestTargetsReadOnce(t *testing.T) {
	t.Parallel()
	var reads atomic.Int32
	d := newDesk(t, func() map[string]string {
		if reads.Add(1) == 1 {
			return theDesk()
		}
		return nil
	})
	d.call("acme")
	path := "/v1/calls/" + d.calls("tenant acme", 1)[0].ID + "/hand-off"
	for _, want := range []int{http.StatusBadRequest, http.StatusForbidden} {
		if code, out := d.do("tenant acme", "POST", path, `{"target":"+4930"}`); code != want {
			t.Errorf("a tenant hands off to an address: %d %s, want %d", code, out, want)
		}
	}
}

// TestStalledCall: a call whose store blocks delays neither the list nor other calls, and is not reported as well.
func TestStalledCall(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	d.call("acme")
	d.call("acme")
	calls := d.calls("root", 2)
	stuck, well := "/v1/calls/"+calls[0].ID, "/v1/calls/"+calls[1].ID
	d.blocked.Store(&blockage{calls[0].ID, make(chan struct{})})
	code, out, header := d.answer("root", "POST", stuck+"/say", `{"text":"Say that we are sorry."}`)
	if code != http.StatusServiceUnavailable || header.Get("Retry-After") == "" ||
		!strings.Contains(out, "may still do it") {
		t.Errorf("say: %d %s %v", code, out, header)
	}
	d.until("the state is unknown", func() bool {
		list := d.calls("root", 2)
		if list[1].State == nil {
			t.Fatalf("the other call is %+v", list[1])
		}
		return list[0].State == nil && strings.Contains(list[0].Unknown, "does not answer: ")
	})
	if code, out := d.do("root", "POST", well+"/consent", `{"on":true}`); code != http.StatusOK {
		t.Errorf("consent of the other call: %d %s", code, out)
	}
	d.state(calls[1].ID, "open", func(s voicegw.State) bool { return !s.Unconsented })
	full := false
	for range 5000 {
		if code, out, header = d.answer("root", "POST", stuck+"/mute", `{"on":true}`); code == http.StatusOK {
			continue
		}
		full = code == http.StatusServiceUnavailable && strings.Contains(out, "nothing was done") &&
			header.Get("Retry-After") != ""
		break
	}
	if !full {
		t.Errorf("at a call that takes no more requests: %d %s %v", code, out, header)
	}
	at := d.blocked.Swap(nil)
	close(at.release)
	d.state(at.call, "muted", func(s voicegw.State) bool { return s.InputClosed })
}

// TestTwoOperators: two operators who contradict each other both get answers. The audit log has their requests in the
// order in which the call gets them: the last one counts.
func TestTwoOperators(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	d.call("acme")
	id := d.calls("root", 1)[0].ID
	const each = 50
	var operators sync.WaitGroup
	for who, on := range map[string]bool{"ann": true, "bob": false} {
		operators.Go(func() {
			for range each {
				if code, out := d.do(who, "POST", "/v1/calls/"+id+"/hold", fmt.Sprintf(`{"on":%t}`, on)); code != http.StatusOK {
					t.Errorf("%s: %d %s", who, code, out)
				}
			}
		})
	}
	operators.Wait()
	log := d.audit.All()
	if len(log) != 2*each {
		t.Fatalf("the audit log has %d lines", len(log))
	}
	for _, e := range log {
		if f := e.ContextMap(); f["done"] != true || f["on"] != (f["actor"] == "ann") {
			t.Errorf("the audit log has %v", f)
		}
	}
	last := log[len(log)-1].ContextMap()["on"] == true
	d.state(id, fmt.Sprintf("on hold: %t", last), func(s voicegw.State) bool { return s.OnHold == last })
}

// TestEndedCall: requests to a call that ends are answered, before its end and after it.
func TestEndedCall(t *testing.T) {
	t.Parallel()
	d := newDesk(t, nil)
	d.call("acme")
	id := d.calls("root", 1)[0].ID
	at := "/v1/calls/" + id
	if code, out := d.do("root", "POST", at+"/hang-up", ""); code != http.StatusOK {
		t.Fatalf("hang-up: %d %s", code, out)
	}
	d.until("the call is gone", func() bool {
		code, out := d.do("root", "POST", at+"/hold", `{"on":true}`)
		if code != http.StatusOK && code != http.StatusConflict && code != http.StatusNotFound {
			t.Errorf("at the end: %d %s", code, out)
		}
		return code == http.StatusNotFound
	})
	<-d.ended
	logged := d.audit.Len()
	for path, method := range map[string]string{"": "GET", "/hold": "POST", "/say": "POST", "/hang-up": "POST"} {
		code, out := d.do("root", method, at+path, "")
		want := `no call \"` + id + `\" is up; it has ended, or there was none`
		if code != http.StatusNotFound || !strings.Contains(out, want) {
			t.Errorf("%s after the end: %d %s", path, code, out)
		}
	}
	if d.audit.Len() != logged {
		t.Error("the audit log has requests that no call got")
	}
}

// FuzzRequests: no request does harm; each gets an answer in JSON.
func FuzzRequests(f *testing.F) {
	f.Add("POST", "hold", `{"on":true}`)
	f.Add("POST", "say", `{"text":"\u0000"}`)
	f.Add("GET", "..%2f", ``)
	f.Add("POST", "tell", `{"role":null,"text":"x"}`)
	d := newDesk(f, func() map[string]string { return map[string]string{} })
	d.call("acme")
	id := d.calls("root", 1)[0].ID
	f.Fuzz(func(t *testing.T, method, action, body string) {
		if action == "hang-up" {
			return
		}
		r, err := http.NewRequest(method, "http://127.0.0.1/v1/calls/"+id+"/"+action, strings.NewReader(body))
		if err != nil {
			return
		}
		r.Header.Set("Authorization", "root")
		w := httptest.NewRecorder()
		d.control.ServeHTTP(w, r)
		if code := w.Code; code == http.StatusInternalServerError || code != http.StatusOK && code < 300 {
			t.Errorf("%s %q %q: %d %s", method, action, body, code, w.Body)
		}
		if w.Code < 300 || w.Code >= 400 { // the mux redirects unclean paths
			if !json.Valid(w.Body.Bytes()) {
				t.Errorf("%s %q %q: %s is no JSON", method, action, body, w.Body)
			}
		}
	})
}

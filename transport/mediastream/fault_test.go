package mediastream_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/audio/audiotest"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/mediastream"
	"github.com/voicegw/voicegw/transport/phone"
	"github.com/voicegw/voicegw/transport/phone/phonetest"
	"github.com/voicegw/voicegw/transport/wsconn"
)

func media(payload string) string {
	return fmt.Sprintf(`{"event":"media","streamSid":"MZ1","media":{"track":"inbound","payload":%q}}`, payload)
}

// odd are messages that a carrier should not send, and a call survives.
func odd() []string {
	return []string{
		`{"event":"weather","streamSid":"MZ1","rain":true}`,
		// the start again
		`{"event":"start","streamSid":"MZ1","start":{}}`, `{"event":"connected","protocol":"Call","version":"1.0.0"}`,
		// no JSON
		"", "{", "hello", "[]", `{"event":7}`,
		// media without sound, of no base64, of another stream, of the other track, repeated
		media(""), `{"event":"media","streamSid":"MZ1"}`, `{"event":"media","streamSid":"MZ1","media":{}}`,
		media("????"), media("abc"), media("🙂"),
		strings.Replace(media("AAAA"), "MZ1", "MZ2", 1),
		strings.Replace(media("AAAA"), "inbound", "outbound", 1),
		`{"event":"media","streamSid":"MZ1","media":{"chunk":"1","payload":"AAAA"}}`,
		// marks that were never set
		`{"event":"mark","streamSid":"MZ1","mark":{"name":"g9:20:7"}}`,
		`{"event":"mark","streamSid":"MZ1","mark":{"name":""}}`, `{"event":"mark","streamSid":"MZ1"}`,
		// keys that are none
		`{"event":"dtmf","streamSid":"MZ1","dtmf":{"digit":"12"}}`,
		`{"event":"dtmf","streamSid":"MZ1","dtmf":{"digit":""}}`, `{"event":"dtmf","streamSid":"MZ1"}`,
		`{"event":"error","payload":{"code":100003}}`,
	}
}

// TestSurvives: a call in which a carrier does all these odd things goes on, and what the caller
// says comes back all the same, not a sample more or less.
func TestSurvives(t *testing.T) {
	inBubble(t, plan{}, func(w *world) {
		p := w.call(phonetest.Config{})
		p.Say(speech("question", 8000))
		time.Sleep(500 * time.Millisecond)
		for _, text := range odd() {
			p.Send([]byte(text), true)
			p.Send([]byte(text), false)
			time.Sleep(20 * time.Millisecond)
		}
		itself(t, "question", w.heard(p, 0, 2*time.Second))
		if keys := w.tap.seen(func(ev transport.Event) bool { return ev.Kind == transport.EventDTMF }); len(keys) > 0 {
			t.Errorf("keys were pressed: %+v", keys)
		}
	})
}

// TestMarksNeverComeBack: the reply comes in pieces, because nobody says how far it got, but all of
// it.
func TestMarksNeverComeBack(t *testing.T) {
	inBubble(t, plan{}, func(w *world) {
		p := w.call(phonetest.Config{NoMarks: true})
		p.Say(speech("question", 8000))
		heard, said := loudSamples(w.heard(p, 0, 4*time.Second)), loudSamples(speech("question", 8000))
		if heard < said*9/10 {
			t.Errorf("%d loud samples were heard of %d", heard, said)
		}
	})
}

// loudSamples counts the samples of loud stretches.
func loudSamples(pcm []int16) (n int) {
	for _, u := range audiotest.Utterances(pcm, 8000, 100*time.Millisecond) {
		n += u[1] - u[0]
	}
	return n
}

// TestGaps: lost media is filled with silence, so that the rest keeps its time.
func TestGaps(t *testing.T) {
	for _, dialect := range []string{phonetest.Twilio, phonetest.Telnyx} {
		inBubble(t, plan{}, func(w *world) {
			p := w.call(phonetest.Config{Dialect: dialect, Lose: func(n int) bool { return n%40 == 0 }})
			p.Say(speech("question", 8000))
			heard := fine(w.heard(p, 0, 2*time.Second))
			if _, corr := audiotest.Align(fine(speech("question", 8000)), heard); corr < 0.95 {
				t.Errorf("dialect %q: with a frame in 40 lost, what came back is like what was said by %.3f", dialect, corr)
			}
		})
	}
}

// TestEnds: how a stream may end, and what the carrier learns.
func TestEnds(t *testing.T) {
	start := func(edit func(s string) string) func(p *phonetest.Phone) {
		return func(p *phonetest.Phone) {
			for _, b := range p.Opening() {
				p.Send([]byte(edit(string(b))), true)
			}
		}
	}
	same := func(s string) string { return s }
	replace := func(old, to string) func(p *phonetest.Phone) {
		return start(func(s string) string { return strings.ReplaceAll(s, old, to) })
	}
	for _, tt := range []struct {
		name  string
		story func(p *phonetest.Phone)
		want  transport.Reason
		calls int // that came about
	}{
		{"stop without hang-up", func(p *phonetest.Phone) { start(same)(p); p.Stop() }, transport.ReasonCallerHungUp, 1},
		{"stop before start", func(p *phonetest.Phone) { p.Stop() }, transport.ReasonCallerHungUp, 0},
		{"a second stream", func(p *phonetest.Phone) { start(same)(p); replace("MZ1", "MZ2")(p) },
			transport.ReasonSecondHello, 1},
		{"another codec", replace("audio/x-mulaw", "audio/opus"), transport.ReasonBadAudio, 0},
		{"no carrier that is known", replace("callSid", "callNumber"), transport.ReasonBadHello, 0},
		{"instructions that nobody has", replace(`"customParameters":null`, `"customParameters":{"instructions":"x"}`),
			transport.ReasonBadHello, 1},
		{"no JSON at first", func(p *phonetest.Phone) { p.Send([]byte("{"), true) }, transport.ReasonBadJSON, 0},
		{"binary at first", func(p *phonetest.Phone) { p.Send([]byte("x"), false) }, transport.ReasonBadHello, 0},
		{"media for ever, no start", func(p *phonetest.Phone) {
			for n := range 2 * phone.FaultsMaxDefault {
				p.Send(p.Media(n+1, make([]int16, 160)), true)
			}
		}, transport.ReasonEventBeforeHello, 0},
		{"nothing", func(*phonetest.Phone) {}, transport.ReasonHelloTimeout, 0},
		{"start and nothing more", start(same), transport.ReasonIdleTimeout, 1},
		{"a message without end", func(p *phonetest.Phone) {
			start(same)(p)
			p.Send([]byte(media(strings.Repeat("A", wsconn.MessageBytesMaxDefault))), true)
		}, transport.ReasonMessageTooBig, 1},
		{"garbage without end", func(p *phonetest.Phone) {
			start(same)(p)
			for range 2 * phone.FaultsMaxDefault {
				p.Send([]byte("{"), true)
			}
		}, transport.ReasonBadJSON, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, plan{}, func(w *world) {
				p := w.call(phonetest.Config{Silent: true})
				tt.story(p)
				<-p.Done()
				if code, _ := p.End(); code != tt.want.Code() {
					t.Errorf("closed with %d, want %d for %s", code, tt.want.Code(), tt.want)
				}
				w.eventually("the call is over", func() bool { return w.gw.Calls() == 0 })
				w.tap.mu.Lock()
				defer w.tap.mu.Unlock()
				if len(w.tap.hellos) != tt.calls {
					t.Errorf("%d calls came about, want %d", len(w.tap.hellos), tt.calls)
				}
			})
		})
	}
}

// TestMediaBeforeStart is dropped, and the call comes about.
func TestMediaBeforeStart(t *testing.T) {
	inBubble(t, plan{}, func(w *world) {
		p := w.call(phonetest.Config{Silent: true})
		for n := range 10 {
			p.Send(p.Media(n+1, make([]int16, 160)), true)
		}
		for _, b := range p.Opening() {
			p.Send(b, true)
		}
		p.Mute(false)
		p.Say(speech("question", 8000))
		itself(t, "question", w.heard(p, 0, 2*time.Second))
	})
}

// TestParameters reach the gateway; credentials do not stay among them.
func TestParameters(t *testing.T) {
	inBubble(t, plan{gw: voicegw.Config{Instructions: map[string]string{"sales": "Sell."}},
		endpoint: mediastream.Config{Secret: "a secret of 20 bytes"}}, func(w *world) {
		w.call(phonetest.Config{Params: map[string]string{"instructions": "sales", "language": "de-DE", "token": "t",
			"secret": "a secret of 20 bytes", "from": "+1", "to": "+2", "customer": "7"}})
		w.eventually("a call", func() bool { return w.tap.hello().Endpoint != "" })
		h := w.tap.hello()
		if h.Instructions != "sales" || h.Language != "de-DE" || h.Token != "t" || h.From != "+1" || h.To != "+2" ||
			h.Remote != "127.0.0.1" || len(h.Params) != 1 || h.Params["customer"] != "7" {
			t.Errorf("the hello is %+v", h)
		}
	})
}

// TestSecret is asked for in the first message where nothing was shown before. Streams that stay
// silent take no line, and make room for those that come later.
func TestSecret(t *testing.T) {
	const secret = "a secret of 20 bytes"
	few := voicegw.Config{CallsMax: 2, HandshakesMax: 4, HandshakesPerAddress: 4}
	inBubble(t, plan{gw: few, endpoint: mediastream.Config{Secret: secret}}, func(w *world) {
		for _, given := range []map[string]string{nil, {"secret": "x"}, {"secret": ""}} {
			p := w.call(phonetest.Config{Params: given})
			<-p.Done()
			if code, _ := p.End(); code != transport.ReasonUnauthorized.Code() {
				t.Errorf("with %v the stream was closed with %d", given, code)
			}
		}
		synctest.Wait() // the refused ones are gone
		var silent []*phonetest.Phone
		for range 20 {
			silent = append(silent, w.call(phonetest.Config{Silent: true}))
		}
		late := w.call(phonetest.Config{Params: map[string]string{"secret": secret}})
		w.eventually("the stream that shows the secret late is a call", func() bool { return w.gw.Calls() == 1 })
		p := w.call(phonetest.Config{Header: http.Header{"Authorization": {"Bearer " + secret}}})
		w.eventually("the stream that shows the secret at once is a call", func() bool { return w.gw.Calls() == 2 })
		<-silent[0].Done()
		if code, _ := silent[0].End(); code != transport.ReasonBusy.Code() {
			t.Errorf("the oldest silent stream was closed with %d", code)
		}
		late.HangUp()
		p.HangUp()
	})
}

// TestBusy answers in HTTP when all lines are in use, and when the endpoint is closed.
func TestBusy(t *testing.T) {
	inBubble(t, plan{gw: voicegw.Config{CallsMax: 1}}, func(w *world) {
		p := w.call(phonetest.Config{})
		w.eventually("a call", func() bool { return w.gw.Calls() == 1 })
		dial := func() *phonetest.Refused {
			_, err := phonetest.Dial(context.Background(), phonetest.Config{URL: w.url, Dial: w.dial})
			refused := &phonetest.Refused{}
			errors.As(err, &refused)
			return refused
		}
		if r := dial(); r.Status != 503 || r.Header.Get("Retry-After") == "" {
			t.Errorf("with all lines in use: %d, Retry-After %q", r.Status, r.Header.Get("Retry-After"))
		}
		if err := w.endpoint.Close(); err != nil {
			t.Error(err)
		}
		<-p.Done()
		if code, _ := p.End(); code != transport.ReasonGoingAway.Code() {
			t.Errorf("the call was closed with %d", code)
		}
		if r := dial(); r.Status != 503 {
			t.Errorf("a closed endpoint answers %d", r.Status)
		}
	})
}

// TestGatewayHangsUp closes the stream, upon which the carrier goes on with the call.
func TestGatewayHangsUp(t *testing.T) {
	inBubble(t, plan{}, func(w *world) {
		p := w.call(phonetest.Config{})
		w.eventually("a call", func() bool { return w.gw.Calls() == 1 })
		_ = w.gw.Close()
		<-p.Done()
		if code, _ := p.End(); code != transport.ReasonGoingAway.Code() {
			t.Errorf("closed with %d", code)
		}
	})
}

// TestTalkingCallBesideAttacks: whatever streams without a right, or with nothing to say, do, a
// call goes on talking.
func TestTalkingCallBesideAttacks(t *testing.T) {
	inBubble(t, plan{}, func(w *world) {
		p := w.call(phonetest.Config{})
		p.Say(slices.Concat(speech("question", 8000)))
		for i := range 20 {
			a := w.call(phonetest.Config{Silent: true})
			switch i % 4 {
			case 0:
				a.Send(make([]byte, 1<<18), true)
			case 1:
				for range 500 {
					a.Send([]byte("{"), true)
				}
			case 2:
				for _, b := range a.Opening() {
					a.Send(b, true)
				}
				for n := range 500 {
					a.Send(a.Media(n, make([]int16, 1600)), true)
				}
			}
		}
		itself(t, "question", w.heard(p, 0, 2*time.Second))
	})
}

// TestCarrierStopsReading: the call of a carrier that reads nothing ends, because what it does not
// take must not pile up.
func TestCarrierStopsReading(t *testing.T) {
	inBubble(t, plan{model: long(), narrow: true}, func(w *world) {
		p := w.call(phonetest.Config{NeverReads: true})
		p.Say(speech("hello", 8000))
		w.eventually("the call is over", func() bool {
			w.tap.mu.Lock()
			defer w.tap.mu.Unlock()
			return len(w.tap.ends) == 1
		})
		if err := w.tap.ends[0]; !errors.Is(err, transport.ErrStalled) {
			t.Errorf("the call ended by %v", err)
		}
	})
}

// scripted are lines whose calls follow a script in place of a gateway.
type scripted struct {
	call func(ctx context.Context, p transport.Peer) error
}

// Take takes a line.
func (s scripted) Take(transport.Handshake) (transport.Line, error) { return s, nil }

// Check takes every hello.
func (s scripted) Check(context.Context, *transport.Hello) error { return nil }

// Call follows the script.
func (s scripted) Call(ctx context.Context, p transport.Peer) error { return s.call(ctx, p) }

// Release does nothing.
func (s scripted) Release() {}

// TestTransfer: a call that is transferred leaves the stream, and Twilio is told whom to dial when
// it asks: the target of the moment of the transfer, not that of the call's begin.
func TestTransfer(t *testing.T) {
	begun, goOn, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	endpoint, err := mediastream.New(mediastream.Config{Targets: map[string]string{"sales": "+493099"}, Lines: scripted{
		func(ctx context.Context, p transport.Peer) error {
			_ = p.Ready(ctx, transport.Ready{})
			close(begun)
			<-goOn
			ended <- p.Send(ctx, &transport.Message{Kind: transport.MessageTransfer, Text: "sales"})
			return p.Close(transport.ReasonTransferred, "")
		}}})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(endpoint)
	defer server.Close()
	defer func() { _ = endpoint.Close() }()
	p, err := phonetest.Dial(t.Context(), phonetest.Config{URL: server.URL + "/v1/twilio", Call: "CA7"})
	if err != nil {
		t.Fatal(err)
	}
	defer p.HangUp()
	<-begun
	retarget(t, endpoint, "+493088")
	close(goOn)
	<-p.Done()
	if code, _ := p.End(); code != transport.ReasonTransferred.Code() {
		t.Errorf("closed with %d", code)
	}
	retarget(t, endpoint, "+493077") // too late for this call
	if err := <-ended; err != nil {
		t.Error(err)
	}
	for _, want := range []string{"<Dial><Number>+493088</Number></Dial>", "<Hangup/>"} {
		resp, err := http.PostForm(server.URL+"/v1/twilio/after", url.Values{"CallSid": {"CA7"}})
		if err != nil {
			t.Fatal(err)
		}
		b, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if !strings.Contains(string(b), want) {
			t.Errorf("asked what comes after the stream: %s, want %s", b, want)
		}
	}
	http.DefaultClient.CloseIdleConnections()
}

// retarget lets sales lead to another number. Targets that are refused change nothing.
func retarget(t *testing.T, e *mediastream.Endpoint, number string) {
	t.Helper()
	next := map[string]string{"sales": number}
	commit, err := e.PrepareTargets(next)
	if err != nil {
		t.Fatal(err)
	}
	commit()
	next["sales"] = "changed afterwards"
	_, err = e.PrepareTargets(map[string]string{"sales": "+491", "desk": "ask for Ann"})
	if err == nil || !strings.Contains(err.Error(), `the target "desk" is neither`) {
		t.Errorf("a target that nobody can dial: %v", err)
	}
}

// TestClearedMarksAreCounted: marks of what was dropped come back and count as dropped, not as
// played.
func TestClearedMarksAreCounted(t *testing.T) {
	inBubble(t, plan{model: long()}, func(w *world) {
		p := w.call(phonetest.Config{Delay: 30 * time.Millisecond})
		w.reply(p, 2*time.Second)
		p.Say(speech("over", 8000))
		w.eventually("a clear", func() bool { return p.Clears() > 0 })
		time.Sleep(time.Second)
		cleared := func(ev transport.Event) bool { return ev.Cleared }
		clears := w.tap.seen(cleared)
		if len(clears) == 0 {
			w.t.Fatal("no clear was answered")
		}
		acks := w.tap.seen(func(ev transport.Event) bool {
			return ev.Kind == transport.EventAck && ev.Generation == clears[0].Generation
		})
		i := slices.IndexFunc(acks, cleared)
		for _, ev := range acks[i+1:] {
			if ev.PlayedMS > acks[i].PlayedMS {
				t.Errorf("%d ms were acknowledged behind a clear at %d ms", ev.PlayedMS, acks[i].PlayedMS)
			}
		}
		if b, _ := json.Marshal(acks); len(acks) < 15 {
			t.Errorf("two seconds were acknowledged by %d events: %s", len(acks), b)
		}
	})
}

package access_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/access"
	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/audio/audiotest"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/live/sim"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/ws"
	"github.com/voicegw/voicegw/transport/ws/wsclient"
)

var secret = []byte("0123456789abcdef0123456789abcdef")

// place is a gateway with the embedded model behind a guard.
type place struct {
	t     *testing.T
	guard *access.Guard
	gw    *voicegw.Gateway
	url   string
}

func open(t *testing.T, cfg access.Config) *place {
	t.Helper()
	model, err := sim.New(sim.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if err := model.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{"sales": "Sell.", "support": "Help."}
	gw, err := voicegw.New(voicegw.Config{Dialer: live.Wire{BaseURL: model.URL()}, Instructions: texts})
	if err != nil {
		t.Fatal(err)
	}
	guard, err := access.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	endpoint, err := ws.New(ws.Config{Lines: access.NewLines(gw.Lines(), guard),
		Offer: transport.Offer{Instructions: []string{"sales", "support"}}})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(endpoint)
	t.Cleanup(func() {
		_ = endpoint.Close()
		_ = gw.Close()
		server.Close()
		_ = model.Close()
		if n := guard.Stats().Running; n != 0 {
			t.Errorf("%d grants were not released", n)
		}
	})
	return &place{t, guard, gw, strings.Replace(server.URL, "http", "ws", 1)}
}

func mint(t *testing.T, c access.Claims) string {
	t.Helper()
	c.Expiry = time.Now().Add(time.Minute)
	s, err := access.Mint(secret, c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func hello(token string) transport.Hello {
	return transport.Hello{InputRateHz: 16000, OutputRateHz: 24000, Token: token}
}

// dial calls; a call that stands ends with the test.
func (p *place) dial(h transport.Hello) (*ws.Client, error) {
	c, err := ws.Dial(p.t.Context(), p.url, h, ws.DialConfig{})
	if err == nil {
		p.t.Cleanup(func() { _ = c.Close() })
	}
	return c, err
}

// reason is how a call ended, or was refused.
func (p *place) reason(c *ws.Client, err error) transport.Reason {
	p.t.Helper()
	var refused *ws.Refused
	for m := (transport.Message{}); err == nil; {
		err = c.Recv(p.t.Context(), &m)
	}
	if errors.As(err, &refused) {
		return refused.Reason
	}
	return transport.ReasonOf(err)
}

// TestTalksWithAToken makes a call by a token and hears the echo.
func TestTalksWithAToken(t *testing.T) {
	t.Parallel()
	p := open(t, access.Config{Secrets: [][]byte{secret}, Tenant: access.Limits{Calls: 1, BytesPerMinute: 1 << 24}})
	said := audiotest.Speech("question")
	h := hello(mint(t, access.Claims{ID: "a"}))
	r, err := wsclient.Call(t.Context(), wsclient.Config{URL: p.url, In: said, Hello: h})
	if err != nil {
		t.Fatal(err)
	}
	heard(t, r, said)
}

func heard(t *testing.T, r wsclient.Report, said audio.PCM) {
	t.Helper()
	ref := audiotest.Resample(said, r.Heard.RateHz).Samples
	lag, corr := audiotest.Align(ref, r.Heard.Samples)
	holes := audiotest.Holes(ref, audiotest.Shift(r.Heard.Samples, lag, len(ref)), r.Heard.RateHz)
	if corr < 0.98 || holes > 0 {
		t.Errorf("the echo has correlation %.3f and %d holes, want 0.98 and none", corr, holes)
	}
}

// TestRefusals calls an endpoint with every kind of invalid token, in each place for tokens.
func TestRefusals(t *testing.T) {
	t.Parallel()
	p := open(t, access.Config{Secrets: [][]byte{secret}, Tenant: access.Limits{Calls: 1}})
	used := mint(t, access.Claims{ID: "used"})
	standing, err := p.dial(hello(used))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.dial(hello(mint(t, access.Claims{ID: "other", Tenant: "b"}))); err != nil {
		t.Errorf("another tenant: %v", err)
	}
	for name, c := range map[string]struct {
		token string
		want  transport.Reason
	}{
		"none":         {"", transport.ReasonUnauthorized},
		"forged":       {used[:len(used)-8] + "AAAAAAAA", transport.ReasonUnauthorized},
		"replayed":     {used, transport.ReasonUnauthorized},
		"over a limit": {mint(t, access.Claims{ID: "second"}), transport.ReasonLimit},
		"unknown words": {mint(t, access.Claims{ID: "words", Tenant: "w", Instructions: "none such"}),
			transport.ReasonBadHello},
	} {
		if got := p.reason(p.dial(hello(c.token))); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	if s := p.guard.Stats(); s.Running != 2 {
		t.Errorf("%+v", s)
	}
	if err := standing.SendEvent(t.Context(), &transport.Event{Kind: transport.EventMute, On: true}); err != nil {
		t.Errorf("the call that stands: %v", err)
	}
}

// TestGrantEndsTheCall: by its time, and by its bytes.
func TestGrantEndsTheCall(t *testing.T) {
	t.Parallel()
	p := open(t, access.Config{Secrets: [][]byte{secret}})
	short := mint(t, access.Claims{ID: "short", CallMax: time.Second})
	if got := p.reason(p.dial(hello(short))); got != transport.ReasonMaxDuration {
		t.Errorf("after its time: %s", got)
	}
	little := mint(t, access.Claims{ID: "little", Limits: access.Limits{BytesPerMinute: 60_000}})
	c, err := p.dial(hello(little))
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err = c.SendAudio(t.Context(), make([]int16, 16000)); err != nil {
			break
		}
	}
	if got := p.reason(c, nil); got != transport.ReasonLimit {
		t.Errorf("after its bytes: %s", got)
	}
}

// TestGatewaySeesTheGrant: what the token says is what the call asks for, and the token goes no
// further.
func TestGatewaySeesTheGrant(t *testing.T) {
	t.Parallel()
	g, err := access.New(access.Config{Secrets: [][]byte{secret}})
	if err != nil {
		t.Fatal(err)
	}
	inner := &gateway{}
	l, err := access.NewLines(inner, g).Take(transport.Handshake{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Release()
	far := &far{hello: hello(mint(t, access.Claims{ID: "x", Model: "m-1", Instructions: "sales"}))}
	if err := l.Call(t.Context(), far); err != nil {
		t.Fatal(err)
	}
	if inner.grant == nil || inner.grant.Model != "m-1" || inner.hello.Instructions != "sales" || inner.hello.Token != "" {
		t.Errorf("the gateway saw %+v and %+v", inner.grant, inner.hello)
	}
	if inner.checked != inner.grant {
		t.Errorf("the gateway is asked with the grant %+v", inner.checked)
	}
	if err := l.Check(t.Context(), &far.hello); err == nil {
		t.Error("a line has two grants")
	}
	if access.GrantOf(t.Context()) != nil {
		t.Error("a grant from nowhere")
	}
}

// TestTokenOfACallThatWasNotTaken can be shown again, until a call is let in by it.
func TestTokenOfACallThatWasNotTaken(t *testing.T) {
	t.Parallel()
	g, err := access.New(access.Config{Secrets: [][]byte{secret}, Tenant: access.Limits{Calls: 1}})
	if err != nil {
		t.Fatal(err)
	}
	inner := &gateway{refuse: &transport.Refused{Reason: transport.ReasonBusy}}
	token := mint(t, access.Claims{ID: "x"})
	check := func() transport.Reason {
		l, err := access.NewLines(inner, g).Take(transport.Handshake{})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Release()
		h := hello(token)
		var refused *transport.Refused
		if err := l.Check(t.Context(), &h); errors.As(err, &refused) {
			return refused.Reason
		}
		return transport.ReasonNone
	}
	for range 3 {
		if got := check(); got != transport.ReasonBusy {
			t.Errorf("while the gateway is full: %s", got)
		}
	}
	inner.refuse = nil
	if got := check(); got != transport.ReasonNone {
		t.Errorf("when a line is free: %s", got)
	}
	if got := check(); got != transport.ReasonUnauthorized {
		t.Errorf("when it was used: %s", got)
	}
	if s := g.Stats(); s.Running != 0 || s.Seen != 1 {
		t.Errorf("left behind: %+v", s)
	}
}

// TestCallThatIsRefused closes the peer of a call that no endpoint checked. It sends the text of a
// refusal, but not that of an error inside the gateway.
func TestCallThatIsRefused(t *testing.T) {
	t.Parallel()
	g, err := access.New(access.Config{Secrets: [][]byte{secret}})
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		refuse error
		reason transport.Reason
		text   string
	}{
		{&transport.Refused{Reason: transport.ReasonBusy}, transport.ReasonBusy, transport.ReasonBusy.Message()},
		{&transport.Refused{Reason: transport.ReasonLimit, Message: "Two calls."}, transport.ReasonLimit, "Two calls."},
		{&transport.FieldError{Event: "hello", Field: "model"}, transport.ReasonBadHello, "model"},
		{errors.New("no such file"), transport.ReasonInternal, transport.ReasonInternal.Message()},
	} {
		l, err := access.NewLines(&gateway{refuse: c.refuse}, g).Take(transport.Handshake{})
		if err != nil {
			t.Fatal(err)
		}
		far := &far{hello: hello(mint(t, access.Claims{ID: fmt.Sprint(i)}))}
		if err := l.Call(t.Context(), far); !errors.Is(err, c.refuse) {
			t.Errorf("refused by %v, the call returned %v", c.refuse, err)
		}
		if far.reason != c.reason || !strings.Contains(far.text, c.text) {
			t.Errorf("refused by %v, the peer was sent %s %q", c.refuse, far.reason, far.text)
		}
		l.Release()
	}
}

// gateway takes every call and looks at it.
type gateway struct {
	refuse         error         // of Check
	checked, grant *access.Grant // in Check and in Call
	hello          transport.Hello
}

func (g *gateway) Take(transport.Handshake) (transport.Line, error) { return g, nil }
func (g *gateway) Check(ctx context.Context, _ *transport.Hello) error {
	g.checked = access.GrantOf(ctx)
	return g.refuse
}
func (g *gateway) Release() {}
func (g *gateway) Call(ctx context.Context, p transport.Peer) error {
	g.grant, g.hello = access.GrantOf(ctx), p.Hello()
	return nil
}

// far is a far end that says nothing.
type far struct {
	transport.Peer
	hello  transport.Hello
	reason transport.Reason // of Close
	text   string
}

func (f *far) Hello() transport.Hello { return f.hello }

func (f *far) Close(reason transport.Reason, text string) error {
	f.reason, f.text = reason, text
	return nil
}

// lineOf takes a line of lines that accept every call, behind a guard.
func lineOf(t *testing.T, g *access.Guard) transport.Line {
	t.Helper()
	l, err := access.NewLines(welcoming{}, g).Take(transport.Handshake{})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// welcoming are lines that accept every call.
type welcoming struct{}

func (welcoming) Take(transport.Handshake) (transport.Line, error) { return welcoming{}, nil }
func (welcoming) Check(context.Context, *transport.Hello) error    { return nil }
func (welcoming) Call(context.Context, transport.Peer) error       { return nil }
func (welcoming) Release()                                         {}

// TestAdmit admits a caller before the settings of the call are known. The token is used up by the
// Check that follows, and is as new without one.
func TestAdmit(t *testing.T) {
	guard, err := access.New(access.Config{Secrets: [][]byte{secret}})
	if err != nil {
		t.Fatal(err)
	}
	token := mint(t, access.Claims{ID: "1", Language: "de-DE"})
	admit := func(l transport.Line) (transport.Hello, error) {
		h := hello(token)
		until, err := transport.Admit(t.Context(), l, &h)
		if err == nil && (h.Token != "" || time.Until(until) > time.Minute || time.Until(until) < 50*time.Second) {
			t.Errorf("admitted until %v, the token is %q", until, h.Token)
		}
		return h, err
	}
	first := lineOf(t, guard)
	if _, err := admit(first); err != nil {
		t.Fatal(err)
	}
	if _, err := admit(lineOf(t, guard)); err == nil {
		t.Error("a token that admits somebody admits another")
	}
	first.Release()
	second := lineOf(t, guard)
	h, err := admit(second)
	if err != nil {
		t.Fatalf("a token whose call never began is refused: %v", err)
	}
	if err := second.Check(t.Context(), &h); err != nil || h.Language != "de-DE" {
		t.Errorf("Check = %v, the language is %q", err, h.Language)
	}
	if err := second.Check(t.Context(), &h); err == nil {
		t.Error("a line is checked twice")
	}
	second.Release()
	if _, err := admit(lineOf(t, guard)); err == nil {
		t.Error("a used token admits")
	}
	if n := guard.Stats().Running; n != 0 {
		t.Errorf("%d grants were not released", n)
	}
}

package webtest_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/internal/browsertest"
	"github.com/voicegw/voicegw/internal/endpointtest"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/ws"
	"github.com/voicegw/voicegw/web"
)

// gate is a gateway with a real endpoint, whose calls a test answers.
type gate struct {
	*httptest.Server
	t     *testing.T
	real  *endpointtest.World
	peers chan transport.Peer
}

// newGate serves the client and an endpoint that takes calls from pages of some other origins.
func newGate(t *testing.T, origins ...string) *gate {
	t.Helper()
	g := &gate{t: t, real: realGateway(t, parrot), peers: make(chan transport.Peer, 4)}
	endpoint, err := ws.New(ws.Config{Lines: g, Origins: origins})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/", web.Handler(web.Config{}))
	mux.Handle("/v1/voice", endpoint)
	g.Server = httptest.NewServer(mux)
	t.Cleanup(g.Close)
	t.Cleanup(func() { _ = endpoint.Close() })
	return g
}

func (g *gate) Take(transport.Handshake) (transport.Line, error) { return gateLine{g}, nil }

type gateLine struct{ *gate }

func (l gateLine) Check(context.Context, *transport.Hello) error { return nil }

func (l gateLine) Release() {}

// Call hands the peer to the test and waits for the end.
func (l gateLine) Call(ctx context.Context, p transport.Peer) error {
	l.peers <- p
	<-ctx.Done()
	return p.Close(transport.ReasonGoingAway, "")
}

// answer takes the next call, with what a real gateway says to its hello.
func (g *gate) answer(ctx context.Context) transport.Peer {
	g.t.Helper()
	select {
	case p := <-g.peers:
		far, err := ws.Dial(ctx, g.real.URL, p.Hello(), ws.DialConfig{})
		if err != nil {
			g.t.Fatal(err)
		}
		defer func() { _ = far.Close() }()
		if err := p.Ready(ctx, far.Ready()); err != nil {
			g.t.Fatal(err)
		}
		return p
	case <-ctx.Done():
		g.t.Fatal("no call came")
		return nil
	}
}

// recv waits for the next event that is neither audio nor an acknowledgement.
func recv(t *testing.T, ctx context.Context, p transport.Peer) transport.Event {
	t.Helper()
	for {
		var ev transport.Event
		if err := p.Recv(ctx, &ev); err != nil {
			t.Fatalf("Recv: %v", err)
		}
		if ev.Kind != transport.EventAudio && ev.Kind != transport.EventAck {
			return ev
		}
	}
}

// snippets are the first code blocks of docs/embed.md, written for the gateway at url.
func snippets(t *testing.T, url string) []string {
	t.Helper()
	doc := fixture(t, "../../../docs/embed.md")
	var out []string
	for _, m := range regexp.MustCompile("(?s)```(?:html|js)\n(.*?)```").FindAllStringSubmatch(doc, 2) {
		out = append(out, strings.ReplaceAll(m[1], "https://gateway.example", url))
	}
	return out
}

// shop is somebody's page, of an origin of its own, with the package installed.
func shop(t *testing.T, modules string, body *string) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle("/node_modules/", http.StripPrefix("/node_modules/", http.FileServer(http.Dir(modules))))
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, `<!doctype html><html lang=en><title>Shop</title><link rel=icon href=data:,>
			<script type="importmap">{"imports": {"voicegw": "/node_modules/voicegw/index.js"}}</script>`+*body)
	})
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	return srv
}

// TestEmbedded runs the lines of docs/embed.md in a page of another origin, through a real
// endpoint.
func TestEmbedded(t *testing.T) {
	t.Parallel()
	browser := withMicrophone.Browser(t)
	modules := pack(t).modules
	for i, name := range []string{"from the gateway", "from the package"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body := ""
			page := shop(t, modules, &body)
			g := newGate(t, page.URL)
			code := snippets(t, g.URL)[i]
			if lines := strings.Count(code, "\n"); lines != 5-2*i {
				t.Errorf("%d lines to paste:\n%s", lines, code)
			}
			if body = code; i == 1 {
				body = `<button id="talk">Talk</button><script type="module">` + code + `</script>`
			}
			// The lines keep the client to themselves; a page that listens in, for the test.
			body = strings.Replace(body, "const call = new", "const call = window.call = new", 1)
			tab := browser.Open(t, page.URL)
			tab.WaitFor(`window.call`)
			embedded(t, g, tab)
			tab.NoErrors()
		})
	}
	t.Run("an origin that is not allowed", func(t *testing.T) {
		t.Parallel()
		body := ""
		page := shop(t, modules, &body)
		g := newGate(t, "https://elsewhere.example")
		body = strings.Replace(snippets(t, g.URL)[0], "const call =", "const call = window.call =", 1)
		tab := browser.Open(t, page.URL)
		tab.WaitFor(`window.call`)
		var why string
		if tab.Eval(`window.call.start().catch((e) => e.code)`, &why); why != "refused" {
			t.Errorf("start failed with %q", why)
		}
	})
}

// TestWorkletsElsewhere: where a bundler leaves the worklets behind, the option worklets names
// their folder.
func TestWorkletsElsewhere(t *testing.T) {
	t.Parallel()
	modules := pack(t).modules
	inner := http.FileServer(http.Dir(filepath.Join(modules, "voicegw")))
	mux := http.NewServeMux()
	mux.Handle("/assets/", http.StripPrefix("/assets/", inner))
	mux.Handle("/bundle/", http.StripPrefix("/bundle/", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "worklet.js") {
			http.NotFound(w, r)
			return
		}
		inner.ServeHTTP(w, r)
	})))
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, `<!doctype html><title>Shop</title><link rel=icon href=data:,>`)
	})
	page := httptest.NewServer(mux)
	t.Cleanup(page.Close)
	g := newGate(t, page.URL)
	tab := withMicrophone.Browser(t).Open(t, page.URL)
	var why string
	tab.Eval(`import("/bundle/index.js").then(({VoiceClient}) => {
		window.call = new VoiceClient({url: "`+g.URL+`/v1/voice"});
		return window.call.start().catch((e) => e.code);
	})`, &why)
	if why != "server_gone" {
		t.Errorf("without worklets start failed with %q", why)
	}
	ctx, cancel := context.WithTimeout(t.Context(), waitMax)
	defer cancel()
	tab.Eval(`(window.call.configure({worklets: "/assets/"}), window.call.start(), 0)`, nil)
	g.answer(ctx)
	tab.WaitFor(`window.call.state === "live"`)
}

// embedded holds a call with a page that has a VoiceClient in window.call.
func embedded(t *testing.T, g *gate, tab *browsertest.Tab) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waitMax)
	defer cancel()
	tab.Eval(`(window.call.configure({token: "a.b.c", params: {customer: "4711"},
		tools: {double: async ({x}) => 2 * x}}), 0)`, nil)
	tab.Click("#talk")
	p := g.answer(ctx)
	if h := p.Hello(); h.Token != "a.b.c" || h.Params["customer"] != "4711" || h.Endpoint != "ws" ||
		h.Remote != "127.0.0.1" {
		t.Errorf("Hello = %+v", h)
	}
	var ev transport.Event
	for loud := false; !loud; loud = ev.Kind == transport.EventAudio && rms(ev.PCM) > 0.02 {
		if err := p.Recv(ctx, &ev); err != nil {
			t.Fatal(err)
		}
	}
	tab.WaitFor(`window.call.state === "live"`)
	for _, step := range []struct {
		do   string
		want transport.Event
	}{
		{`call.sendText("Grüße")`, transport.Event{Kind: transport.EventText, Text: "Grüße"}},
		{`call.sendDigits("12#")`, transport.Event{Kind: transport.EventDTMF, Text: "12#"}},
		{`call.talk()`, transport.Event{Kind: transport.EventTalk, On: true}},
		{`call.hold()`, transport.Event{Kind: transport.EventHold, On: true}},
		{`call.hold(false)`, transport.Event{Kind: transport.EventHold}},
		{`call.consent()`, transport.Event{Kind: transport.EventConsent, On: true}},
		{`call.send("cart.changed", {items: 3})`, transport.Event{Kind: transport.EventMessage, Name: "cart.changed",
			Text: `{"items":3}`}},
		{`call.send("none")`, transport.Event{Kind: transport.EventMessage, Name: "none", Text: "null"}},
		{`call.mute()`, transport.Event{Kind: transport.EventMute, On: true}},
	} {
		tab.Eval(`window.`+step.do, nil)
		if got := recv(t, ctx, p); got.Kind != step.want.Kind || got.Text != step.want.Text || got.Name != step.want.Name ||
			got.On != step.want.On {
			t.Errorf("%s gave %+v", step.do, got)
		}
	}
	send := func(m transport.Message) {
		if err := p.Send(ctx, &m); err != nil {
			t.Fatal(err)
		}
	}
	send(transport.Message{Kind: transport.MessageToolCall, ID: "t-1", Name: "double", Text: `{"x":21}`})
	if got := recv(t, ctx, p); got.Kind != transport.EventToolResult || got.ID != "t-1" || got.Text != "42" || got.Failed {
		t.Errorf("the tool gave %+v", got)
	}
	tab.Eval(`(window.seen = [], ["hold", "consent", "protected", "model", "tool_cancel", "message",
		"transfer"].forEach((type) => window.call.on(type, (detail) =>
			window.seen.push([type, ...Object.values(detail)].join(" ")))), 0)`, nil)
	send(transport.Message{Kind: transport.MessageHold, State: transport.StateStart})
	send(transport.Message{Kind: transport.MessageConsent, State: transport.StateStart})
	send(transport.Message{Kind: transport.MessageProtected, State: transport.StateStop})
	send(transport.Message{Kind: transport.MessageModel, State: transport.StateLost})
	send(transport.Message{Kind: transport.MessageToolCancel, ID: "t-9"})
	send(transport.Message{Kind: transport.MessageMessage, Name: "show", Text: "[1,2]"})
	send(transport.Message{Kind: transport.MessageTransfer, Text: "desk"})
	tab.WaitFor(`window.seen.join() === "hold true,consent true,protected false,model lost,tool_cancel t-9," +
		"message show 1,2,transfer desk"`)
	tab.Click("#talk")
	if got := recv(t, ctx, p); got.Kind != transport.EventBye {
		t.Errorf("hanging up said %+v", got)
	}
	_ = p.Close(transport.ReasonCallerHungUp, "")
	tab.WaitFor(`window.call.state === "ended"`)
}

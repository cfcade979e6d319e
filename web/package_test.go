package web_test

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw/internal/browsertest"
	"github.com/voicegw/voicegw/internal/doortest"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/ws"
	"github.com/voicegw/voicegw/web"
)

// packTimeout bounds npm.
const packTimeout = time.Minute

// pack makes the npm package as `npm pack` does and unpacks it into a folder node_modules/voicegw, which it returns
// together with the files in it.
func pack(t *testing.T) (modules string, files map[string]string) {
	t.Helper()
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Fatal("npm is not installed: run make deps")
	}
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(context.Background(), packTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, npm, "pack", "--ignore-scripts", "--offline", "--pack-destination", dir)
	cmd.Env = append(os.Environ(), "npm_config_cache="+filepath.Join(dir, "cache"), "npm_config_update_notifier=false")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("npm pack: %v\n%s", err, out)
	}
	archives, _ := filepath.Glob(filepath.Join(dir, "voicegw-*.tgz"))
	if len(archives) != 1 {
		t.Fatalf("npm pack made %v", archives)
	}
	files = unpack(t, archives[0])
	for name, text := range files {
		to := filepath.Join(dir, "node_modules", "voicegw", name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), os.WriteFile(to, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "node_modules"), files
}

// unpack reads the files of an npm package, by their paths in it.
func unpack(t *testing.T, archive string) map[string]string {
	t.Helper()
	f, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files[strings.TrimPrefix(h.Name, "package/")] = string(text)
	}
}

// references are the files that a module names: imports, and addresses of its own folder.
func references(text string) []string {
	var out []string
	named := regexp.MustCompile(`(?:from|import|new URL\()\s*\(?"\./([^"]+\.js)"`)
	for _, m := range named.FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
	}
	return out
}

// TestPackage: the npm package has what client.js needs, its types, and nothing else.
func TestPackage(t *testing.T) {
	_, files := pack(t)
	want := []string{"LICENSE", "README.md", "client.d.ts", "package.json"}
	todo := []string{"client.js"}
	for len(todo) > 0 {
		name := todo[0]
		todo = todo[1:]
		if slices.Contains(want, name) {
			continue
		}
		want = append(want, name)
		todo = append(todo, references(files[name])...)
	}
	slices.Sort(want)
	var got []string
	for name := range files {
		got = append(got, name)
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("the package has\n%v, want\n%v", got, want)
	}
	license, err := os.ReadFile("../LICENSE")
	if err != nil || files["LICENSE"] != string(license) {
		t.Errorf("the license is another one than the repository's: %v", err)
	}
	var meta struct {
		Name, Main, Types, License, Type string
		Dependencies                     map[string]string
	}
	if err := json.Unmarshal([]byte(files["package.json"]), &meta); err != nil {
		t.Fatal(err)
	}
	if meta.Name != "voicegw" || files[path.Clean(meta.Main)] == "" || files[path.Clean(meta.Types)] == "" ||
		meta.Type != "module" || meta.License != "Apache-2.0" || len(meta.Dependencies) != 0 {
		t.Errorf("package.json says %+v", meta)
	}
}

// TestTypes: the types name every method, event and code that there is.
func TestTypes(t *testing.T) {
	types := fixture(t, "../client.d.ts")
	s := open(t, browsertest.Launch(t, browsertest.Config{NoMicrophone: true}), "")
	var members []string
	s.Eval(`import("./client.js").then(({VoiceClient}) => [...Object.getOwnPropertyNames(VoiceClient.prototype),
		...Object.getOwnPropertyNames(VoiceClient).filter((n) => !["length", "name", "prototype"].includes(n))])`, &members)
	_, class, _ := strings.Cut(types, "export class VoiceClient")
	for _, name := range members {
		if !regexp.MustCompile(`\b` + name + `\b`).MatchString(class) {
			t.Errorf("client.d.ts does not have VoiceClient.%s", name)
		}
	}
	_, events, _ := strings.Cut(types, "export interface VoiceEvents")
	events, _, _ = strings.Cut(events, "\n}")
	emitted := regexp.MustCompile(`(?:emit|#onMode)\("([a-z_]+)"`)
	for _, file := range []string{"call.js", "client.js", "tools.js"} {
		for _, m := range emitted.FindAllStringSubmatch(fixture(t, "../"+file), -1) {
			if !strings.Contains(events, "\n  "+m[1]+": ") {
				t.Errorf("client.d.ts does not have the event %s of %s", m[1], file)
			}
		}
	}
	var exported []string
	s.Eval(`import("./client.js").then(Object.keys)`, &exported)
	for _, name := range exported {
		if !regexp.MustCompile(`export (class|const) ` + name + `\b`).MatchString(types) {
			t.Errorf("client.d.ts does not export %s", name)
		}
	}
	if len(members) < 15 {
		t.Errorf("VoiceClient has %v", members)
	}
}

// gate is a gateway with a real door, whose calls a test answers.
type gate struct {
	*httptest.Server
	t     *testing.T
	real  *doortest.World
	peers chan transport.Peer
}

// newGate serves the client and a door that takes calls of the pages of some other origins.
func newGate(t *testing.T, origins ...string) *gate {
	t.Helper()
	g := &gate{t: t, real: realGateway(t, parrot), peers: make(chan transport.Peer, 4)}
	door, err := ws.New(ws.Config{Lines: g, Origins: origins})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/", web.Handler(web.Config{}))
	mux.Handle("/v1/voice", door)
	g.Server = httptest.NewServer(mux)
	t.Cleanup(g.Close)
	t.Cleanup(func() { _ = door.Close() })
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
	doc := fixture(t, "../../docs/embed.md")
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
			<script type="importmap">{"imports": {"voicegw": "/node_modules/voicegw/client.js"}}</script>`+*body)
	})
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	return srv
}

// TestEmbedded runs the lines of docs/embed.md in a page of another origin, through a real door.
func TestEmbedded(t *testing.T) {
	browser := launch(t)
	modules, _ := pack(t)
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
			t.Errorf("the page was told %q", why)
		}
	})
}

// TestWorkletsElsewhere: a bundler that leaves the worklets behind is told where they are.
func TestWorkletsElsewhere(t *testing.T) {
	modules, _ := pack(t)
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
	tab := launch(t).Open(t, page.URL)
	var why string
	tab.Eval(`import("/bundle/client.js").then(({VoiceClient}) => {
		window.call = new VoiceClient({url: "`+g.URL+`/v1/voice"});
		return window.call.start().catch((e) => e.code);
	})`, &why)
	if why != "server_gone" {
		t.Errorf("without worklets the page was told %q", why)
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
	if h := p.Hello(); h.Token != "a.b.c" || h.Params["customer"] != "4711" || h.Door != "ws" || h.Remote != "127.0.0.1" {
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
		{`call.mute()`, transport.Event{Kind: transport.EventMute, On: true}},
	} {
		tab.Eval(`window.`+step.do, nil)
		if got := recv(t, ctx, p); got.Kind != step.want.Kind || got.Text != step.want.Text || got.On != step.want.On {
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
	tab.Eval(`(window.seen = [], ["hold", "consent", "protected", "model", "tool_cancel", "transfer"].forEach((type) =>
		window.call.on(type, (detail) => window.seen.push([type, ...Object.values(detail)].join(" ")))), 0)`, nil)
	send(transport.Message{Kind: transport.MessageHold, State: transport.StateStart})
	send(transport.Message{Kind: transport.MessageConsent, State: transport.StateStart})
	send(transport.Message{Kind: transport.MessageProtected, State: transport.StateStop})
	send(transport.Message{Kind: transport.MessageModel, State: transport.StateLost})
	send(transport.Message{Kind: transport.MessageToolCancel, ID: "t-9"})
	send(transport.Message{Kind: transport.MessageTransfer, Text: "desk"})
	tab.WaitFor(`window.seen.join() === "hold true,consent true,protected false,model lost,tool_cancel t-9,transfer desk"`)
	tab.Click("#talk")
	if got := recv(t, ctx, p); got.Kind != transport.EventBye {
		t.Errorf("hanging up said %+v", got)
	}
	_ = p.Close(transport.ReasonCallerHungUp, "")
	tab.WaitFor(`window.call.state === "ended"`)
}

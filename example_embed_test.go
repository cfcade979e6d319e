package voicegw_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/access"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/live/sim"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/ws"
)

// greeter starts an embedded model that greets with one second of sound.
func greeter(script string) *sim.Server {
	cfg := sim.Config{Greeting: make([]int16, 24000), GreetingText: "Hello.", Speed: 100}
	if script != "" {
		s, err := sim.ParseScenario("example", script)
		if err != nil {
			panic(err)
		}
		cfg.Scenario = s
	}
	model, err := sim.New(cfg)
	if err == nil {
		err = model.Start("127.0.0.1:0")
	}
	if err != nil {
		panic(err)
	}
	return model
}

// gateway is one whose model speaks first.
func gateway(cfg voicegw.Config) *voicegw.Gateway {
	cfg.Greeting = "Greet the caller."
	gw, err := voicegw.New(cfg)
	if err != nil {
		panic(err)
	}
	return gw
}

// visit calls, hears the model out, acknowledging what it hears at once, and hangs up. It returns
// the ms it heard.
func visit(url, token string, cfg ws.DialConfig) (ms int, err error) {
	return listen(url, token, cfg, func(m *transport.Message) bool {
		return m.Kind == transport.MessageTurn && m.State == transport.StateEnd
	})
}

// stay is visit by someone who does not hang up.
func stay(url string) (ms int, err error) {
	return listen(url, "", ws.DialConfig{}, func(*transport.Message) bool { return false })
}

// listen is a visit up to a message that is enough.
func listen(url, token string, cfg ws.DialConfig, enough func(*transport.Message) bool) (ms int, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c, err := ws.Dial(ctx, url, transport.Hello{InputRateHz: 8000, OutputRateHz: 8000, Token: token}, cfg)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	var m transport.Message
	for {
		if err := c.Recv(ctx, &m); err != nil {
			return ms, err
		}
		ack := transport.Event{Kind: transport.EventAck, Generation: m.Generation}
		switch {
		case m.Kind == transport.MessageAudio:
			ms += len(m.PCM) / 8
		case m.Kind == transport.MessageMark:
			ack.Mark = m.ID
		case enough(&m):
			return ms, nil
		default:
			continue
		}
		ack.PlayedMS = int64(ms)
		if err := c.SendEvent(ctx, &ack); err != nil {
			return ms, err
		}
	}
}

// The gateway is one handler among others of a server.
func Example_server() {
	model := greeter("")
	defer model.Close()
	gw := gateway(voicegw.Config{Dialer: live.Wire{BaseURL: model.URL()}})
	defer gw.Close()

	mux := http.NewServeMux()
	mux.Handle("/v1/voice", gw.Voice())
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "the rest of the site") })
	server := httptest.NewServer(mux) // or http.ListenAndServe
	defer server.Close()

	fmt.Println(visit(server.URL+"/v1/voice", "", ws.DialConfig{}))
	// Output: 1000 <nil>
}

// status notes how a request was answered. Unwrap is what lets a WebSocket through: without it a
// wrapped handler answers 501.
type status struct {
	http.ResponseWriter
	code int
}

func (s *status) WriteHeader(code int) {
	s.code = code
	s.ResponseWriter.WriteHeader(code)
}

func (s *status) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// The gateway goes below a path of a router that is there already, behind its middleware. An
// endpoint does not look at the path it is mounted on.
func Example_router() {
	model := greeter("")
	defer model.Close()
	gw := gateway(voicegw.Config{Dialer: live.Wire{BaseURL: model.URL()}})
	defer gw.Close()

	lines := make(chan string, 10) // here: the log
	logged := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			s := &status{ResponseWriter: w}
			next.ServeHTTP(s, r)
			lines <- fmt.Sprint(r.Method, " ", r.URL.Path, " ", s.code)
		})
	}
	api := http.NewServeMux()
	api.Handle("GET /calls", gw.Voice())
	root := http.NewServeMux()
	root.Handle("/api/", logged(http.StripPrefix("/api", api)))
	server := httptest.NewServer(root)
	defer server.Close()
	fmt.Println(visit(server.URL+"/api/calls", "", ws.DialConfig{}))
	fmt.Println(<-lines) // the call is over now, and its request with it
	// Output:
	// 1000 <nil>
	// GET /api/calls 101
}

// The server's own certificate, and its own idea of who may call: a hook that looks at the token of
// the hello.
func Example_ownAuth() {
	model := greeter("")
	defer model.Close()
	users := map[string]string{"session-of-anna": "anna"}
	over := make(chan voicegw.Record, 1)
	gw := gateway(voicegw.Config{
		Dialer: live.Wire{BaseURL: model.URL()},
		Hooks: voicegw.Hooks{
			Begin: func(_ context.Context, h *transport.Hello) (*voicegw.Plan, error) {
				user, ok := users[h.Token]
				if !ok {
					return nil, &transport.Refused{Reason: transport.ReasonUnauthorized, Message: "Log in first."}
				}
				return &voicegw.Plan{Labels: map[string]string{"user": user}}, nil
			},
			Ended: func(r voicegw.Record) { over <- r },
		},
	})
	defer gw.Close()
	server := httptest.NewTLSServer(gw.Voice()) // or http.ListenAndServeTLS
	defer server.Close()

	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	trust := ws.DialConfig{TLS: &tls.Config{RootCAs: roots}}
	_, err := visit(server.URL, "stolen", trust)
	var refused *ws.Refused
	if errors.As(err, &refused) {
		fmt.Println(refused.Reason, refused.Message)
	}
	_, err = visit(server.URL, "session-of-anna", trust)
	fmt.Println(err)
	r := <-over
	fmt.Println(r.Labels["user"], "heard", r.HeardMS, "ms:", r.Reason)
	// Output:
	// unauthorized Log in first.
	// <nil>
	// anna heard 1000 ms: caller_hung_up
}

// Call tokens and limits of package access stand before every endpoint.
func Example_guard() {
	model := greeter("")
	defer model.Close()
	secret := []byte("thirty-two bytes at the very least")
	guard, err := access.New(access.Config{Secrets: [][]byte{secret}, Tenant: access.Limits{Calls: 10}})
	if err != nil {
		fmt.Println(err)
		return
	}
	gw := gateway(voicegw.Config{
		Dialer: live.Wire{BaseURL: model.URL()},
		Guard:  func(l transport.Lines) transport.Lines { return access.NewLines(l, guard) },
		Hooks: voicegw.Hooks{Begin: func(ctx context.Context, _ *transport.Hello) (*voicegw.Plan, error) {
			fmt.Println("a call of", access.GrantOf(ctx).Tenant)
			return nil, nil
		}},
	})
	defer gw.Close()
	server := httptest.NewServer(gw)
	defer server.Close()

	token, err := access.Mint(secret, access.Claims{ID: "call-1", Expiry: time.Now().Add(time.Minute), Tenant: "acme"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(visit(server.URL+"/v1/voice", token, ws.DialConfig{}))
	_, err = visit(server.URL+"/v1/voice", token, ws.DialConfig{})
	var refused *ws.Refused
	fmt.Println(errors.As(err, &refused) && refused.Reason == transport.ReasonUnauthorized)
	// Output:
	// a call of acme
	// 1000 <nil>
	// true
}

// Two gateways in one process share nothing: models, limits, tools and nets are each one's own.
func Example_twoGateways() {
	parrot, other := greeter(""), greeter("")
	defer parrot.Close()
	defer other.Close()
	sales := gateway(voicegw.Config{Dialer: live.Wire{BaseURL: parrot.URL()}, CallsMax: 20})
	defer sales.Close()
	support := gateway(voicegw.Config{Dialer: live.Wire{BaseURL: other.URL()}, CallsMax: 5})
	defer support.Close()

	mux := http.NewServeMux()
	mux.Handle("/sales", sales.Voice())
	mux.Handle("/support", support.Voice())
	server := httptest.NewServer(mux)
	defer server.Close()

	fmt.Println(visit(server.URL+"/sales", "", ws.DialConfig{}))
	fmt.Println(len(parrot.Connections()), len(other.Connections()))
	sales.Close() // the other one takes calls still
	fmt.Println(visit(server.URL+"/support", "", ws.DialConfig{}))
	// Output:
	// 1000 <nil>
	// 1 0
	// 1000 <nil>
}

// Calls that run come to their end before the server does; nobody new is let in meanwhile.
func ExampleGateway_Drain() {
	model := greeter("")
	defer model.Close()
	running := make(chan struct{})
	gw := gateway(voicegw.Config{
		Dialer: live.Wire{BaseURL: model.URL()},
		Hooks: voicegw.Hooks{
			Running: func(*voicegw.Session) { close(running) },
			Ended:   func(r voicegw.Record) { fmt.Println("heard", r.HeardMS, "ms:", r.Reason) },
		},
	})
	defer gw.Close() // ends at once what Drain left
	server := httptest.NewServer(gw)
	defer server.Close()

	over := make(chan error)
	go func() {
		_, err := stay(server.URL + "/v1/voice")
		over <- err
	}()
	<-running // here: until a signal comes

	limit, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	fmt.Println("drained:", gw.Drain(limit))
	fmt.Println(transport.ReasonOf(<-over))
	_, err := visit(server.URL+"/v1/voice", "", ws.DialConfig{})
	var refused *ws.Refused
	fmt.Println(errors.As(err, &refused), refused.Status)
	// Output:
	// heard 1000 ms: going_away
	// drained: <nil>
	// going_away
	// true 503
}

// A model of Vertex AI: the project, where it is, and where access tokens come from. Without
// BaseURL it would be Google's.
func Example_vertex() {
	model := greeter("")
	defer model.Close()
	gw := gateway(voicegw.Config{Dialer: live.Wire{
		BaseURL: model.URL(),
		Model:   "gemini-live-2.5-flash",
		Vertex: &live.Vertex{Project: "my-project", Location: "europe-west4",
			Token: func(context.Context) (string, error) { return "an-access-token", nil }},
	}})
	defer gw.Close()
	server := httptest.NewServer(gw)
	defer server.Close()
	fmt.Println(visit(server.URL+"/v1/voice", "", ws.DialConfig{}))
	for _, c := range model.Connections() {
		fmt.Println(c.Path)
	}
	// Output:
	// 1000 <nil>
	// /ws/google.cloud.aiplatform.v1beta1.LlmBidiService/BidiGenerateContent
}

// A typed function that the model calls; the embedded one does as soon as it is asked to greet.
func ExampleNewTool() {
	model := greeter(`on text 1: call weather {"city":"Oslo"}`)
	defer model.Close()
	type place struct {
		City string `json:"city" jsonschema:"the name of the city"`
	}
	type sky struct {
		Celsius float64 `json:"celsius"`
	}
	weather, err := voicegw.NewTool("weather", "tells the weather of a city",
		func(_ context.Context, p place) (sky, error) {
			fmt.Println("asked for", p.City)
			return sky{Celsius: 21.5}, nil
		})
	if err != nil {
		fmt.Println(err)
		return
	}
	gw := gateway(voicegw.Config{Dialer: live.Wire{BaseURL: model.URL()}, Tools: []voicegw.Tool{weather}})
	defer gw.Close()
	server := httptest.NewServer(gw)
	defer server.Close()
	if _, err := visit(server.URL+"/v1/voice", "", ws.DialConfig{}); err != nil {
		fmt.Println(err)
	}
	fmt.Println(string(model.Connections()[0].ToolReplies[0].Response))
	// Output:
	// asked for Oslo
	// {"output":{"celsius":21.5}}
}

// Each turn that has ended: here the greeting, which the caller hears to its end.
func Example_turns() {
	model := greeter("")
	defer model.Close()
	gw := gateway(voicegw.Config{Dialer: live.Wire{BaseURL: model.URL()}, Hooks: voicegw.Hooks{
		Turn: func(_ *voicegw.Session, t voicegw.Turn) {
			fmt.Printf("%s: %q, heard %d ms, interrupted: %v\n", t.Who, t.Text, t.HeardMS, t.Interrupted())
		},
	}})
	server := httptest.NewServer(gw)
	defer server.Close()
	if _, err := visit(server.URL+"/v1/voice", "", ws.DialConfig{}); err != nil {
		fmt.Println(err)
	}
	gw.Close()
	// Output:
	// model: "Hello.", heard 1000 ms, interrupted: false
}

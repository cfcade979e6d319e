// Command deskrest is the desk of examples/desk behind ADK's REST server, on loopback:
//
//	go run ./examples/deskrest
//	curl -X POST localhost:8080/apps/desk/users/me/sessions/s1
//	curl localhost:8080/run -d '{"appName": "desk", "userId": "me", "sessionId": "s1",
//		"newMessage": {"role": "user", "parts": [{"text": "2 soup, please"}]}}'
//
// It needs neither key nor network. At the start it proves the net that it runs. Its page /nets/ shows the
// nets of the sessions as they move.
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	adk "google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/server/adkrest"
	"google.golang.org/adk/v2/session"

	"github.com/voicegw/voicegw/agent"
	"github.com/voicegw/voicegw/agent/adkagent"
	"github.com/voicegw/voicegw/examples/internal/desk"
)

func main() {
	port := flag.Uint("port", 8080, "port of 127.0.0.1 to listen on")
	flag.Parse()
	if err := serve(fmt.Sprint("127.0.0.1:", *port)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(address string) error {
	a, line, err := newAgent()
	if err != nil {
		return err
	}
	handler, err := handlerOf(a)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("deskrest: %w", err)
	}
	fmt.Printf("%s\nhttp://%s\nhttp://%s/nets/\n", line, l.Addr(), l.Addr())
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second}
	return server.Serve(l)
}

// newAgent returns the desk as an agent of ADK, and a line about its proof.
func newAgent() (a *adkagent.Agent, line string, err error) {
	c := desk.Config(desk.Clerk{})
	c.KeepsMessage = true // ADK's runner stores the messages of users
	prog, err := agent.New(c)
	if err != nil {
		return nil, "", err
	}
	if line, err = desk.Prove(context.Background(), prog); err != nil {
		return nil, "", err
	}
	a, err = adkagent.Wrap(prog, adk.Config{Name: "desk", Description: "the desk of a small restaurant"},
		adkagent.Options{})
	return a, line, err
}

// handlerOf returns ADK's REST server for an agent, with sessions in memory, and the page of its nets.
func handlerOf(a *adkagent.Agent) (http.Handler, error) {
	rest, err := adkrest.NewServer(adkrest.ServerConfig{AgentLoader: adk.NewSingleLoader(a), SSEWriteTimeout: time.Minute,
		SessionService: adkagent.Sessions(session.InMemoryService())})
	if err != nil {
		return nil, fmt.Errorf("deskrest: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("/", rest)
	mux.Handle("/nets/", http.StripPrefix("/nets", a.NetPage()))
	return mux, nil
}

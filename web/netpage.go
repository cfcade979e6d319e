package web

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"time"
)

// Net is a running net that a NetPage shows. One request at a time uses it.
type Net interface {
	// SVG returns the drawing, in which a group with data-place is a place and one with data-transition
	// a transition.
	SVG() ([]byte, error)
	// Next waits for a change and returns it as JSON: fired, a list of names, and marking, from place to
	// count. An error ends the view.
	Next(ctx context.Context) ([]byte, error)
}

// NetLink leads to a running net.
type NetLink struct {
	Title string
	Query url.Values
}

// Address is the address of the net, relative to the page.
func (l NetLink) Address() template.URL { return template.URL("./?" + l.Query.Encode()) }

// NetPageConfig configures a NetPage. List and Open are required and must be safe for concurrent use.
type NetPageConfig struct {
	// Title is the name in the page's head and tab. Default "Nets".
	Title string
	// List returns the nets that run.
	List func() []NetLink
	// Open returns the net that the query of a link names. ctx ends when nobody watches any more; stop
	// is called then. The text of an error is shown to whoever asked.
	Open func(ctx context.Context, q url.Values) (n Net, stop func(), err error)
}

const (
	netEvery     = 100 * time.Millisecond // between two updates of a page
	netHeartbeat = 15 * time.Second       // without an update
	netSendTime  = 10 * time.Second       // for one update to be taken
)

// NetPage serves a page that shows running nets, live: a list at the path it is mounted at, which must
// end in "/", and the drawing of one net below it. It needs no address of its own:
//
//	mux.Handle("/nets/", http.StripPrefix("/nets", web.NetPage(cfg)))
//
// A page gets at most ten updates a second. Whoever may load the page sees the nets, so put it behind
// your own authorization.
func NetPage(cfg NetPageConfig) http.Handler {
	cfg.Title = cmp.Or(cfg.Title, "Nets")
	served := chosen(embedded(), "/net/net.js", viewerStyle, "/page/page.css", "/page/favicon.svg")
	page, err := template.ParseFS(files, "net/index.html")
	must("parse net/index.html", err)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/events" && r.Method == http.MethodGet:
			showNet(w, r, &cfg)
		case r.URL.Path == "/":
			var out bytes.Buffer
			must("render net/index.html", page.Execute(&out, struct {
				Title string
				Open  bool
				Links []NetLink
			}{cfg.Title, r.URL.RawQuery != "", cfg.List()}))
			serve(w, r, map[string]*file{"/": newFile("index.html", out.Bytes())})
		default:
			serve(w, r, served)
		}
	})
}

// showNet sends the drawing of a net and its updates as server-sent events.
func showNet(w http.ResponseWriter, r *http.Request, cfg *NetPageConfig) {
	n, stop, err := cfg.Open(r.Context(), r.URL.Query())
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	defer stop()
	svg, err := n.SVG()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	out := http.NewResponseController(w)
	send := func(text string) error {
		if err := out.SetWriteDeadline(time.Now().Add(netSendTime)); err != nil && !errors.Is(err, http.ErrNotSupported) {
			return err
		}
		if _, err := w.Write([]byte(text)); err != nil {
			return err
		}
		return out.Flush()
	}
	err = send(event("graph", quoted(string(svg))))
	for err == nil {
		err = sendUpdate(r.Context(), n, send)
	}
}

// sendUpdate sends one update and rests. It sends a heartbeat if there is none in time.
func sendUpdate(ctx context.Context, n Net, send func(string) error) error {
	wait, cancel := context.WithTimeout(ctx, netHeartbeat)
	defer cancel()
	update, err := n.Next(wait)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case wait.Err() != nil && err != nil:
		return send(": nothing has happened\n\n")
	case err != nil:
		_ = send(event("over", quoted("The net has ended.")))
		return err
	}
	if err := send(event("net", string(update))); err != nil {
		return err
	}
	rest := time.NewTimer(netEvery)
	defer rest.Stop()
	select {
	case <-rest.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func event(name, data string) string { return fmt.Sprintf("event: %s\ndata: %s\n\n", name, data) }

// quoted returns a text as JSON, which has no line breaks.
func quoted(text string) string {
	b, _ := json.Marshal(text) // a text has no value that JSON lacks
	return string(b)
}

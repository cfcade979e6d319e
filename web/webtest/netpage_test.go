package webtest_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/netview"
	"github.com/voicegw/voicegw/petri/runner"
	"github.com/voicegw/voicegw/web"
)

// TestNetPage watches a net in a browser: from the list to its drawing, whose marking moves.
func TestNetPage(t *testing.T) {
	t.Parallel()
	const push, lit, dark petri.Place[petri.Unit] = "push", "lit", "dark"
	prog, err := petri.Compile(&petri.Net{Name: "lamp", Env: []petri.Env{{Place: push}},
		Init: []petri.Token{dark.Token(petri.Unit{})}, Transitions: []petri.Transition{
			{Name: "switch_on", In: petri.Arcs{push, dark}, Out: petri.And(lit)},
			{Name: "switch_off", In: petri.Arcs{push, lit}, Out: petri.And(dark)},
		}})
	if err != nil {
		t.Fatal(err)
	}
	view := netview.New(prog)
	run, err := runner.Start(prog, runner.Config{Store: view})
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	view.Attach(run.Marking)
	view.Touch()
	mux := http.NewServeMux()
	mux.Handle("/nets/", http.StripPrefix("/nets", web.NetPage(web.NetPageConfig{
		List: func() []web.NetLink { return []web.NetLink{{Title: "Lamp", Query: url.Values{"id": {"1"}}}} },
		Open: func(context.Context, url.Values) (web.Net, func(), error) { return view, func() {}, nil },
	})))
	srv := httptest.NewServer(mux)
	defer srv.Close()
	defer srv.CloseClientConnections() // a page that watches never ends its request
	tab := withMicrophone.Browser(t).Open(t, srv.URL+"/nets/")
	tab.Click("main a")
	marked := func(place string) string {
		return `document.querySelector("[data-place=` + place + `].marked") !== null`
	}
	tab.WaitFor(`document.querySelector("#state")?.textContent === "Live" && ` + marked("dark"))
	for _, next := range []struct{ place, fired string }{{"lit", "switch_on"}, {"dark", "switch_off"}} {
		if err := run.Inject(push.Token(petri.Unit{})); err != nil {
			t.Fatal(err)
		}
		tab.WaitFor(marked(next.place) + ` && document.querySelector("#net-fired").textContent === "` + next.fired + `"`)
	}
	tab.NoErrors()
}

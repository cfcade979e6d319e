package main

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"net/url"

	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/live/sim"
	"github.com/voicegw/voicegw/settings"
	"github.com/voicegw/voicegw/transport"
)

// model is the model of a gateway's calls.
type model struct {
	wire  live.Wire
	sdk   bool            // dial with Google's client library
	info  transport.Model // what the gateway tells peers about it
	where string          // for people: where audio goes
	close func() error
}

// dialer opens connections to the model.
func (m *model) dialer() live.Dialer {
	if m.sdk {
		return &live.SDK{Wire: m.wire}
	}
	return m.wire
}

// openModel starts the embedded model, or says where the audio goes. The caller must close it.
func openModel(s *settings.Settings) (*model, error) {
	if s.Embedded() {
		return startEmbedded(s)
	}
	name := cmp.Or(s.Model.Name, live.DefaultModel)
	m := &model{wire: s.Wire(), sdk: s.Model.SDK, info: transport.Model{Name: name}, close: func() error { return nil }}
	m.where = fmt.Sprintf("audio goes to Google: %s", name)
	if v := m.wire.Vertex; v != nil {
		var err error
		if v.Token, err = live.DefaultToken(); err != nil {
			return nil, usagef("vertex.project is %q, but there are no application default credentials: %w; make them with "+
				"`gcloud auth application-default login`, or name a file of them in GOOGLE_APPLICATION_CREDENTIALS",
				v.Project, err)
		}
		m.where = fmt.Sprintf("audio goes to Google's Vertex AI, %s in %s: %s", v.Project, v.Location, name)
	}
	if u, err := url.Parse(s.Model.BaseURL); err == nil && u.Host != "" {
		m.where = fmt.Sprintf("audio goes to %s: %s", u.Host, name)
	}
	return m, nil
}

// modelsSpare is how many connections the embedded model takes beyond one a call: some still end
// while the next call begins.
const modelsSpare = 256

// startEmbedded starts the embedded model on a free port of this machine.
func startEmbedded(s *settings.Settings) (*model, error) {
	server, err := sim.New(sim.Config{Seed: rand.Uint64(), ConnectionsMax: s.CallsMax() + modelsSpare})
	if err != nil {
		return nil, err
	}
	if err := server.Start("127.0.0.1:0"); err != nil {
		return nil, fmt.Errorf("start the embedded model: %w", err)
	}
	w := s.Wire()
	w.BaseURL, w.Model = server.URL(), settings.Parrot
	if s.Model.SDK {
		w.APIKey = settings.Parrot // Google's library needs one; this model takes any
	}
	return &model{
		wire:  w,
		sdk:   s.Model.SDK,
		info:  transport.Model{Name: settings.Parrot, Embedded: true},
		where: "embedded model: nothing leaves this machine",
		close: server.Close,
	}, nil
}

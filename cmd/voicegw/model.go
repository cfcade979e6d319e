package main

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"net/url"
	"time"

	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/live/sim"
	"github.com/voicegw/voicegw/transport"
)

// model is who answers the calls of a gateway.
type model struct {
	wire  live.Wire
	sdk   bool            // Google's client library speaks
	told  transport.Model // what peers are told of it
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

// embedded reports whether the model runs in this process.
func (o *options) embedded() bool {
	return o.model.baseURL == "" && (!o.paid() || o.model.name == sim.ModelName)
}

// paid reports whether there is a key or a project in whose name a model can be asked.
func (o *options) paid() bool { return o.model.key != "" || o.model.project != "" }

// wire is how the model is dialled. Its address is missing for the embedded one, and no key goes there.
func (o *options) wire() live.Wire {
	w := live.Wire{BaseURL: o.model.baseURL, Model: o.model.name, HandshakeTimeout: o.limits.dialTimeout}
	switch {
	case o.embedded():
	case o.model.project != "":
		w.Vertex = &live.Vertex{Project: o.model.project, Location: o.model.location}
	default:
		w.APIKey = o.model.key
	}
	return w
}

// setup is what the model is asked to be unless a hello asks for something else.
func (o *options) setup() live.Setup {
	return live.Setup{Voice: o.voice, Language: o.language, SystemInstruction: o.instructions[defaultInstructions]}
}

// openModel starts the embedded model, or says where the other one is. Close ends it.
func openModel(o *options) (*model, error) {
	if o.embedded() {
		return startEmbedded(o)
	}
	name := cmp.Or(o.model.name, live.DefaultModel)
	m := &model{wire: o.wire(), sdk: o.model.sdk, told: transport.Model{Name: name}, close: func() error { return nil }}
	m.where = fmt.Sprintf("audio goes to Google: %s", name)
	if v := m.wire.Vertex; v != nil {
		var err error
		if v.Token, err = live.DefaultToken(); err != nil {
			return nil, usagef("vertex.project is %q, and there is nobody to ask in whose name: %w; `gcloud auth "+
				"application-default login` makes credentials, or GOOGLE_APPLICATION_CREDENTIALS names a file of them",
				v.Project, err)
		}
		m.where = fmt.Sprintf("audio goes to Google's Vertex AI, %s in %s: %s", v.Project, v.Location, name)
	}
	if u, err := url.Parse(o.model.baseURL); err == nil && u.Host != "" {
		m.where = fmt.Sprintf("audio goes to %s: %s", u.Host, name)
	}
	return m, nil
}

// modelsSpare is how many connections the embedded model takes beyond one for each call: those that end while the next
// call begins.
const modelsSpare = 256

// startEmbedded starts the embedded model on a port of this machine that nobody else is told of.
func startEmbedded(o *options) (*model, error) {
	server, err := sim.New(sim.Config{Seed: rand.Uint64(), ConnectionsMax: o.callsMax + modelsSpare})
	if err != nil {
		return nil, err
	}
	if err := server.Start("127.0.0.1:0"); err != nil {
		return nil, fmt.Errorf("start the embedded model: %w", err)
	}
	w := o.wire()
	w.BaseURL, w.Model = server.URL(), sim.ModelName
	if o.model.sdk {
		w.APIKey = sim.ModelName // Google's library wants one, this model takes any
	}
	return &model{
		wire:  w,
		sdk:   o.model.sdk,
		told:  transport.Model{Name: sim.ModelName, Embedded: true},
		where: "embedded model: nothing leaves this machine",
		close: server.Close,
	}, nil
}

// greetingDefault is what the embedded model is asked to begin with.
const greetingDefault = "Greet the caller."

// greetingFor is the configured greeting, or the default of the model.
func (o *options) greetingFor(m *model) string {
	switch {
	case o.greeting != nil:
		return *o.greeting
	case m.told.Embedded:
		return greetingDefault
	}
	return ""
}

// dialGrace lets the dial's own limit, which can say what was waited for, end it before the gateway's does.
const dialGrace = 2 * time.Second

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
	told  transport.Model // what peers are told of it
	where string          // for people: where audio goes
	close func() error
}

// embedded reports whether the model runs in this process.
func (o *options) embedded() bool {
	return o.model.baseURL == "" && (o.model.key == "" || o.model.name == sim.ModelName)
}

// wire is how the model is dialled. Its address is missing for the embedded one, and no key goes there.
func (o *options) wire() live.Wire {
	w := live.Wire{BaseURL: o.model.baseURL, Model: o.model.name, HandshakeTimeout: o.limits.dialTimeout}
	if !o.embedded() {
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
	m := &model{wire: o.wire(), told: transport.Model{Name: name}, close: func() error { return nil }}
	m.where = fmt.Sprintf("audio goes to Google: %s", name)
	if u, err := url.Parse(o.model.baseURL); err == nil && u.Host != "" {
		m.where = fmt.Sprintf("audio goes to %s: %s", u.Host, name)
	}
	return m, nil
}

// startEmbedded starts the embedded model on a port of this machine that nobody else is told of.
func startEmbedded(o *options) (*model, error) {
	server, err := sim.New(sim.Config{Seed: rand.Uint64(), ConnectionsMax: o.callsMax + connectionsSpare})
	if err != nil {
		return nil, err
	}
	if err := server.Start("127.0.0.1:0"); err != nil {
		return nil, fmt.Errorf("start the embedded model: %w", err)
	}
	w := o.wire()
	w.BaseURL, w.Model = server.URL(), sim.ModelName
	return &model{
		wire:  w,
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

package voicegw

import (
	"cmp"
	"time"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/voicenets"
)

// detection is who detects the turns of a caller with this hello.
func detection(cfg *Config, hello *transport.Hello) voicenets.Detection {
	switch hello.Detection {
	case transport.DetectionGatewayVAD, transport.DetectionPush:
		return voicenets.GatewayVAD
	case transport.DetectionModelVAD:
		return voicenets.ModelVAD
	default:
		return cfg.Detection
	}
}

// mode returns the hello without what OneMode refuses it, and the refusals. The error is that of a
// hello that cannot do without.
func (c *Config) mode(hello transport.Hello) (transport.Hello, []*transport.FieldError, error) {
	if !c.OneMode {
		return hello, nil, nil
	}
	var refused []*transport.FieldError
	if detection(c, &hello) != c.Detection {
		f := transport.SessionError("detection", string(hello.Detection), decided)
		if hello.Detection == transport.DetectionPush {
			return hello, nil, f
		}
		refused = append(refused, f)
		hello.Detection = transport.DetectionDefault
	}
	if hello.HalfDuplex {
		refused = append(refused, transport.SessionError("half_duplex", "true", decided))
		hello.HalfDuplex = false
	}
	return hello, refused, nil
}

// modelSetup is what a call with this plan and hello asks of the model.
func modelSetup(cfg *Config, plan *Plan, hello *transport.Hello) live.Setup {
	s := cfg.Setup
	if plan.Setup != nil {
		s = *plan.Setup
	}
	if hello.Language != "" {
		s.Language = hello.Language
	}
	named := cfg.Instructions
	if plan.Instructions != nil {
		named = plan.Instructions
	}
	if text, ok := named[hello.Instructions]; ok {
		s.SystemInstruction = text
	}
	if plan.SystemInstruction != "" {
		s.SystemInstruction = plan.SystemInstruction
	}
	s.Automatic = detection(cfg, hello) == voicenets.ModelVAD
	s.Tools = nil
	for i := range plan.Tools {
		s.Tools = append(s.Tools, plan.Tools[i].declaration())
	}
	return s
}

// readyMessage is what the peer is sent when the call is up.
func readyMessage(id string, cfg *Config, plan *Plan, hello *transport.Hello) transport.Ready {
	det := hello.Detection
	if det == transport.DetectionDefault {
		det = transport.DetectionGatewayVAD
		if cfg.Detection == voicenets.ModelVAD {
			det = transport.DetectionModelVAD
		}
	}
	model := cfg.Model
	if own := plan.Setup.Model; own != cfg.Setup.Model && own != "" {
		model.Name = own
	}
	return transport.Ready{
		Call: id, InputRateHz: hello.InputRateHz, OutputRateHz: hello.OutputRateHz,
		Budget:    time.Duration(cfg.Net.Budget()) * audio.FrameDuration,
		Detection: det, Model: model, Greeting: cfg.Greeting != "", CallMax: cfg.Net.Longest(),
		Voice: plan.Setup.Voice, Refused: plan.refused,
		Schedules: schedules(cfg, plan.Setup.Model),
	}
}

// schedules reports whether the model of a call takes the scheduling of results. A setup without a
// model has that of the dialer, which cfg.Model may name.
func schedules(cfg *Config, model string) bool {
	return live.Schedules(cmp.Or(model, cfg.Model.Name, live.DefaultModel))
}

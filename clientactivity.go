package voicegw

import (
	"cmp"
	"fmt"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/transport"
)

// Bounds of what a client may ask of the detector, in ms.
const (
	silenceMSMin, silenceMSMax = 100, 5000
	prefixMSMax                = 1000
)

// followActivity puts how a client wants its speech detected into the plan of a call, whose detector
// has cfg. detects says that the gateway's detector decides about the caller's turns. It returns the
// refusals.
func (r *SessionRules) followActivity(a *transport.Activity, p *Plan, cfg audio.ActivityConfig,
	detects bool) (refused []*transport.FieldError) {
	p.activity = cfg
	take := func(field, value, want string, ok bool, change func(c *audio.ActivityConfig)) {
		changed := p.activity
		change(&changed)
		switch _, err := audio.NewActivity(changed); {
		case !r.Activity:
			want = decided
		case !detects:
			want = "absent: the gateway's detector does not decide about turns in this call"
		case ok && err == nil:
			p.activity = changed
			return
		}
		refused = append(refused, transport.SessionError(field, value, want))
	}
	known := func(s transport.Sensitivity) bool {
		return s == transport.SensitivityHigh || s == transport.SensitivityLow
	}
	if s := a.Start; s != "" {
		take("start_sensitivity", quoted(string(s)), "high or low", known(s), func(c *audio.ActivityConfig) {
			if s == transport.SensitivityLow {
				low := cmp.Or(c.Threshold, defaultThreshold)
				c.Threshold = (low + max(low, cmp.Or(c.RaisedThreshold, 2*defaultThreshold))) / 2
			}
		})
	}
	if s := a.End; s != "" {
		take("end_sensitivity", quoted(string(s)), "high or low", known(s), func(c *audio.ActivityConfig) {
			if s == transport.SensitivityLow {
				c.StopFrames = 2 * cmp.Or(c.StopFrames, defaultStopFrames)
			}
		})
	}
	if ms := a.PrefixMS; ms != nil {
		take("prefix_padding", fmt.Sprintf("%d ms", *ms), fmt.Sprintf("0 to %d ms", prefixMSMax),
			*ms >= 0 && *ms <= prefixMSMax, func(c *audio.ActivityConfig) {
				c.StartFrames = max(1, framesOf(*ms))
				c.StartWindow = c.StartFrames + 1
			})
	}
	if ms := a.SilenceMS; ms != nil {
		take("silence_duration", fmt.Sprintf("%d ms", *ms), fmt.Sprintf("%d to %d ms", silenceMSMin, silenceMSMax),
			*ms >= silenceMSMin && *ms <= silenceMSMax,
			func(c *audio.ActivityConfig) { c.StopFrames = framesOf(*ms) })
	}
	return refused
}

// Defaults of audio.ActivityConfig.
const (
	defaultThreshold  = 0.5
	defaultStopFrames = 25
)

// framesOf returns how many frames cover a length.
func framesOf(ms int32) int { return (int(ms) + transport.FrameMS - 1) / transport.FrameMS }

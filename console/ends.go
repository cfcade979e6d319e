package console

import (
	"fmt"
	"time"

	"github.com/voicegw/voicegw/petri"
)

// ends notes how causes end. Times are milliseconds since the call began.
type ends struct {
	how       map[string]string // in words, by the key of a cause; those since the silence began
	began     map[string]float64
	tools     int // functions that run
	connected float64
	result    float64 // when the model got the newest result of a function
	audio     float64 // when audio came from the model
	online    bool
	dialling  bool
	speaking  bool
}

func newEnds() *ends { return &ends{how: map[string]string{}, began: map[string]float64{}} }

// take looks at the marking after an event.
func (n *ends) take(p *petri.Program, s *spots, t *petri.Tracker, e petri.Event) {
	at, by := ms(e.At), ""
	if e.Kind == petri.Fired {
		by = base(p.Transitions()[e.Index].Name)
	}
	if e.Kind == petri.Injected && int(e.Index) == s.modelAudio {
		n.audio = at
	}
	n.speaking = has(t, s.speaking)
	tools := 0
	for _, place := range s.tools {
		tools += t.Count(place)
	}
	if n.tools == 0 && tools > 0 {
		n.began[keyTool] = at
	}
	if tools < n.tools {
		n.returned(by, at)
	}
	n.tools = tools
	if dialling := has(t, s.dialling); dialling != n.dialling {
		if n.dialling = dialling; dialling {
			n.began[keyLost] = at
		}
	}
	if online := has(t, s.online); online != n.online {
		if n.online = online; online {
			n.connected = at
			n.how[keyLost] = n.took(keyLost, "The dial was answered", at)
			n.how[keyConnecting] = n.how[keyLost]
		}
	}
}

// returned notes how a function ended.
func (n *ends) returned(by string, at float64) {
	switch by {
	case "answer_call", "answer_call_late":
		n.result = at
		n.how[keyTool] = n.took(keyTool, "The function returned", at)
	case "time_out_call":
		n.result = at
		n.how[keyTool] = n.took(keyTool, "The gateway stopped waiting for the function", at)
	case "cancel_call":
		n.how[keyTool] = n.took(keyTool, "The model cancelled the call of the function", at)
	default:
		n.how[keyTool] = n.took(keyTool, "The call of the function was lost with the connection to the model", at)
	}
}

// leave notes how a cause ends that another one follows.
func (n *ends) leave(key, next string, at time.Duration) {
	if key == next {
		return
	}
	now := ms(at)
	if next == keyHold {
		n.began[next] = now
	}
	switch {
	case key == keyStalled && n.audio == now:
		n.how[key] = fmt.Sprintf("The model sent more at %s.", clock(now))
	case key == keyModelTurn && next != keyModelSlow && n.audio == now, key == keyModelSlow && n.audio == now:
		n.how[keyModelTurn] = fmt.Sprintf("Its audio came at %s.", clock(now))
		n.how[keyModelSlow] = n.how[keyModelTurn]
	case key == keyHold:
		n.how[key] = n.took(key, "The hold ended", now)
	}
}

// took says that something ended, and how long it took.
func (n *ends) took(key, what string, at float64) string {
	return fmt.Sprintf("%s at %s (%s).", what, clock(at), seconds(at-n.began[key]))
}

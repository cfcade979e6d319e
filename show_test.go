package voicegw_test

import (
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/transport"
)

// TestShowNet draws the net of a call and lets it move, at most ten times a second, with places and
// transitions that are in the drawing.
func TestShowNet(t *testing.T) {
	for _, d := range []transport.Detection{transport.DetectionGatewayVAD, transport.DetectionModelVAD} {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			inBubble(t, plan{gw: voicegw.Config{Greeting: greetCaller, ShowNet: true}}, func(w *world) {
				h := hello()
				h.ShowNet, h.Detection = true, d
				p := w.call(h, manner{})
				drawing := p.kind(transport.MessageNetGraph)
				if !strings.HasPrefix(drawing.Text, "<svg") {
					w.t.Fatalf("the drawing is %.80q", drawing.Text)
				}
				p.ended(transport.TurnComplete)
				p.say(speech("over", 16000))
				p.ended(transport.TurnComplete)
				var nets []heard
				for _, h := range p.all() {
					if h.Kind == transport.MessageNet {
						nets = append(nets, h)
					}
				}
				checkNets(t, drawing.Text, nets)
				if n := len(p.after(transport.MessageNetGraph)); n != 0 {
					t.Errorf("the net was drawn %d times more", n)
				}
			})
		})
	}
}

// checkNets looks at what moved.
func checkNets(t *testing.T, drawing string, nets []heard) {
	t.Helper()
	fired, marked := map[string]bool{}, map[string]bool{}
	for i, h := range nets {
		if i > 0 && h.at-nets[i-1].at < 99*time.Millisecond {
			t.Errorf("net messages %v apart", h.at-nets[i-1].at)
		}
		for _, name := range h.Fired {
			fired[name] = true
		}
		for _, place := range h.Marking {
			marked[place.Place] = true
			if place.Count < 1 {
				t.Errorf("place %s is shown with %d tokens", place.Place, place.Count)
			}
		}
	}
	if len(nets) < 20 || len(fired) < 10 || len(marked) < 5 {
		t.Errorf("%d messages, %d transitions, %d places", len(nets), len(fired), len(marked))
	}
	for name := range fired {
		if !strings.Contains(drawing, `data-transition="`+name+`"`) {
			t.Errorf("transition %s fired and is not in the drawing", name)
		}
	}
	for name := range marked {
		if !strings.Contains(drawing, `data-place="`+name+`"`) {
			t.Errorf("place %s is marked and not in the drawing", name)
		}
	}
}

// TestShowNetAtRest shows the marking as it stands when nothing moves any more.
func TestShowNetAtRest(t *testing.T) {
	t.Parallel()
	inBubble(t, plan{gw: voicegw.Config{ShowNet: true}}, func(w *world) {
		h := hello()
		h.ShowNet = true
		p := w.call(h, manner{noMic: true})
		time.Sleep(time.Second)
		for _, on := range []bool{true, false, true} { // closer together than messages may be
			p.send(transport.Event{Kind: transport.EventMute, On: on})
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(time.Second)
		nets := p.after(transport.MessageNet)
		if len(nets) == 0 {
			w.t.Fatal("nothing moved")
		}
		muted := false
		for _, place := range nets[len(nets)-1].Marking {
			muted = muted || strings.HasSuffix(place.Place, "muted")
		}
		if !muted {
			t.Errorf("the last marking shown is %v", nets[len(nets)-1].Marking)
		}
	})
}

// TestShowNetRefused shows nothing to a page that may not see it, or does not ask.
func TestShowNetRefused(t *testing.T) {
	t.Parallel()
	for _, allowed := range []bool{true, false} {
		inBubble(t, plan{gw: voicegw.Config{Greeting: greetCaller, ShowNet: allowed}}, func(w *world) {
			h := hello()
			h.ShowNet = !allowed
			p := w.call(h, manner{})
			p.ended(transport.TurnComplete)
			for _, h := range p.all() {
				if h.Kind == transport.MessageNet || h.Kind == transport.MessageNetGraph {
					w.t.Fatalf("%s came", h.Kind)
				}
			}
		})
	}
}

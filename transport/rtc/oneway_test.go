package rtc_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pion/webrtc/v4"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/internal/npmtest"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/rtc"
)

// oneWayInBubble is stageInBubble for an endpoint that takes callers one way.
func oneWayInBubble(t *testing.T, story func(t *testing.T, w *world, l *lines)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l := newLines()
		w := endpointInBubble(t, rtc.Config{Lines: l, OneWay: true})
		t.Cleanup(func() { _ = w.endpoint.Close() })
		defer w.ether.part()
		story(t, w, l)
	})
}

// TestPublisher is heard and hears nothing; the reply goes on as if it were played. It has events
// if it wants any.
func TestPublisher(t *testing.T) {
	for _, noData := range []bool{true, false} {
		oneWayInBubble(t, func(t *testing.T, w *world, l *lines) {
			c, p := w.accept(l, manner{way: webrtc.RTPTransceiverDirectionSendonly, noData: noData,
				through: func(answer string) string {
					if !strings.Contains(answer, "a=recvonly") {
						t.Errorf("the answer to a publisher is\n%s", answer)
					}
					return answer
				}})
			c.say(speech("hello"))
			var pcm []int16
			for len(pcm) < len(speech("hello"))+8000 {
				pcm = append(pcm, next(t, p, transport.EventAudio).PCM...)
			}
			alike(t, speech("hello"), audio.PCM{RateHz: 16000, Samples: pcm}, 0.9)
			began := time.Now()
			speakTo(t, p, 1, 40)
			for next(t, p, transport.EventAck).PlayedMS < 800 {
			}
			if took := time.Since(began); took < 700*time.Millisecond {
				t.Errorf("800 ms were played within %v", took)
			}
			c.mu.Lock()
			defer c.mu.Unlock()
			if len(c.heard) > 0 {
				t.Errorf("the publisher heard %d packets", len(c.heard))
			}
			if !noData && len(c.log) == 0 {
				t.Error("the publisher was told nothing")
			}
		})
	}
}

// TestListener hears and says nothing.
func TestListener(t *testing.T) {
	oneWayInBubble(t, func(t *testing.T, w *world, l *lines) {
		c, p := w.accept(l, manner{way: webrtc.RTPTransceiverDirectionRecvonly, noData: true,
			through: func(answer string) string {
				if !strings.Contains(answer, "a=sendonly") {
					t.Errorf("the answer to a listener is\n%s", answer)
				}
				return answer
			}})
		speakTo(t, p, 1, 60)
		c.listenFor(1500 * time.Millisecond)
		if audio.Peak(c.sound(0)) < 0.05 {
			t.Errorf("the listener heard nothing\n%s", c.story())
		}
	})
}

// TestDraftDataChannel takes the data channel of aiortc up to 1.13, whose section is that of drafts
// before RFC 8841.
func TestDraftDataChannel(t *testing.T) {
	stageInBubble(t, func(t *testing.T, w *world, l *lines) {
		c, p := w.accept(l, manner{offers: func(offer string) string {
			draft := strings.NewReplacer("UDP/DTLS/SCTP webrtc-datachannel", "DTLS/SCTP 5000",
				"a=sctp-port:5000", "a=sctpmap:5000 webrtc-datachannel 65535").Replace(offer)
			if draft == offer {
				t.Errorf("the offer has no data channel:\n%s", offer)
			}
			return draft
		}})
		c.send(transport.Event{Kind: transport.EventText, Text: "hi"})
		if got := next(t, p, transport.EventText).Text; got != "hi" {
			t.Errorf("the text came as %q", got)
		}
	})
}

// TestAiortcOffer answers what aiortc 1.13 offers: sections with a way of their own each, in the
// order in which its program made them.
func TestAiortcOffer(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("testdata/aiortc-1.13.sdp")
	if err != nil {
		t.Fatal(err)
	}
	l := newLines()
	w := newStage(t, l, rtc.Config{})
	resp, answer := w.request(http.MethodPost, w.callURL(), strings.ReplaceAll(string(b), "\n", "\r\n"), "Content-Type",
		offerType)
	if resp.StatusCode != http.StatusCreated || strings.Count(answer, "m=") != 2 ||
		strings.Contains(answer, "m=application 0") || !strings.Contains(answer, "m=application 9 UDP/DTLS/SCTP") {
		t.Errorf("aiortc is answered %s\n%s", resp.Status, answer)
	}
}

// TestChromiumPublishes is Eyevinn's WHIP client in a page, which publishes sound and pictures: the
// sound is heard, the pictures are refused.
func TestChromiumPublishes(t *testing.T) {
	t.Parallel()
	l := newLines()
	w := newStage(t, l, rtc.Config{OneWay: true, Codecs: []rtc.Codec{}})
	script := npmtest.Bundle(t, "testdata/whip.mjs")
	mux := http.NewServeMux()
	mux.Handle("/v1/whip", w.endpoint)
	mux.Handle("/v1/whip/", w.endpoint)
	mux.HandleFunc("/said/{name}", serveSpeech)
	mux.HandleFunc("/", func(rw http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(rw, "<!doctype html><link rel=icon href=data:,><body><script>%s</script>", script)
	})
	tab := shared.Browser(t).Open(t, serve(t, mux))
	tab.WaitFor(`window.published`)
	p := w.ready(l)
	tab.Eval(`speak("hello")`, nil)
	var pcm []int16
	for len(pcm) < len(speech("hello"))+2*16000 {
		pcm = append(pcm, next(t, p, transport.EventAudio).PCM...)
	}
	if !understood(t, speech("hello"), pcm, 0.7) {
		t.Error("the words were not heard")
	}
	var directions []string
	tab.Eval(`client.peer.getTransceivers().map((t) => t.currentDirection ?? "none")`, &directions)
	if len(directions) != 1 || directions[0] != "sendonly" {
		t.Errorf("the directions are %v, want one, of the sound: a refused section stops its transceiver", directions)
	}
	tab.Eval(`client.destroy().then(() => 0)`, nil)
	for ev := (transport.Event{}); ev.Kind != transport.EventBye; {
		var e *transport.Ended
		if err := p.Recv(t.Context(), &ev); errors.As(err, &e) && e.Reason == transport.ReasonCallerHungUp {
			break // the connection closed before the DELETE came
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

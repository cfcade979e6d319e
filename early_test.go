package voicegw

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/transport"
)

// slowMind is a mind whose dial takes a second.
type slowMind struct{ *mind }

func (m slowMind) Dial(context.Context, live.Setup) (live.Conn, error) {
	time.Sleep(time.Second)
	return m.mind, nil
}

// TestEarlySpeechReachesItsOwnModel lets callers of one gateway speak while their models are
// dialled. With model VAD each first connection gets what its own caller said, to the frame, and
// nothing of anybody else's; with gateway VAD, where no turn began, none gets anything.
func TestEarlySpeechReachesItsOwnModel(t *testing.T) {
	const frames = 20
	for name, h := range map[string]transport.Hello{
		"model VAD":              {Detection: transport.DetectionModelVAD},
		"model VAD, half-duplex": {Detection: transport.DetectionModelVAD, HalfDuplex: true},
		"gateway VAD":            {Detection: transport.DetectionGatewayVAD},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h.InputRateHz, h.OutputRateHz = 16000, 24000
				minds := map[string]*mind{"1": newMind(), "2": newMind(), "silent": newMind()}
				heard := map[string][]int16{} // the first samples of the frames
				g, err := New(Config{Dialer: newMind(), Hooks: Hooks{Begin: func(_ context.Context,
					h *transport.Hello) (*Plan, error) {
					return &Plan{Dialer: slowMind{minds[h.Params["n"]]}}, nil
				}}})
				if err != nil {
					t.Fatal(err)
				}
				for i, who := range []string{"1", "2", "silent"} {
					p := newFarEnd()
					p.hello = h
					p.hello.Params = map[string]string{"n": who}
					minds[who].onHear = func(pcm []int16) { heard[who] = append(heard[who], pcm[0]) }
					wait := runOn(g, p)
					for range frames {
						if who != "silent" {
							p.events <- transport.Event{Kind: transport.EventAudio,
								PCM: slices.Repeat([]int16{int16(i + 1)}, audio.FrameSamples(16000))}
						}
						time.Sleep(audio.FrameDuration)
					}
					time.Sleep(2 * time.Second)
					p.events <- bye()
					_ = wait()
				}
				_ = g.Close()
				for i, who := range []string{"1", "2", "silent"} {
					var want []int16
					if h.Detection == transport.DetectionModelVAD && who != "silent" {
						want = slices.Repeat([]int16{int16(i + 1)}, frames)
					}
					if !slices.Equal(heard[who], want) {
						t.Errorf("the model of caller %s heard %v, want %v", who, heard[who], want)
					}
				}
			})
		})
	}
}

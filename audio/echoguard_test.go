package audio_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/audio/audiotest"
)

// room plays speech through a guard as a gateway does: handed over ahead of time, heard by the
// microphone delay frames later at gain, with a caller.
func room(g *audio.EchoGuard, reply, caller []int16, delay int, gainDB float64) (explained, loud, callerPassed int) {
	gain := math.Pow(10, gainDB/20)
	frames := len(reply) / 320
	mic := make([]int16, 320)
	handed := 0
	for i := range frames + delay {
		for handed < min(i+20, frames) {
			g.Playing(time.Duration(i)*audio.FrameDuration, reply[handed*320:handed*320+320])
			handed++
		}
		echoing := false
		for k := range mic {
			v := 0.0
			if j := (i-delay)*320 + k; j >= 0 && j < len(reply) {
				v = float64(reply[j]) * gain
			}
			echoing = echoing || math.Abs(v) > 50
			if j := i*320 + k; j < len(caller) {
				v += float64(caller[j])
			}
			mic[k] = int16(v)
		}
		byCaller := i*320+320 <= len(caller) && audio.RMS(caller[i*320:i*320+320]) > 0.02
		ok := g.Explains(time.Duration(i+1)*audio.FrameDuration, mic)
		switch {
		case byCaller && !ok:
			callerPassed++
		case echoing && !byCaller:
			loud++
			if ok {
				explained++
			}
		}
	}
	return explained, loud, callerPassed
}

func TestEchoGuardExplainsEcho(t *testing.T) {
	reply := audiotest.Speech("long").Samples
	for _, delay := range []int{2, 8, 25, 50} {
		for _, gain := range []float64{-12, -15, -30} {
			g := audio.NewEchoGuard()
			explained, loud, _ := room(g, reply, nil, delay, gain)
			again, loudAgain, _ := room(g, reply, nil, delay, gain)
			t.Logf("delay %d, %.0f dB: %d of %d, then %d of %d", delay, gain, explained, loud, again, loudAgain)
			if loud < 100 || explained*100 < loud*80 || again*100 < loudAgain*97 {
				t.Errorf("delay %d, %.0f dB: explained %d of %d loud frames, then %d of %d",
					delay, gain, explained, loud, again, loudAgain)
			}
		}
	}
}

// TestEchoGuardLetsCallerThrough: after the first second the guard passes a quiet caller with a
// headset, and a caller with a loudspeaker who speaks louder than the echo.
func TestEchoGuardLetsCallerThrough(t *testing.T) {
	reply := audiotest.Speech("long").Samples
	over := audiotest.Speech("over").Samples
	late := append(make([]int16, 3*16000), over...)
	quiet := make([]int16, len(late))
	for i, v := range late {
		quiet[i] = v / 3
	}
	for _, c := range []struct {
		name   string
		gainDB float64
		caller []int16
		want   int
	}{
		{"headset, quiet caller", -100, quiet, 25},
		{"loudspeaker", -20, late, 30},
	} {
		_, _, passed := room(audio.NewEchoGuard(), reply, c.caller, 8, c.gainDB)
		t.Logf("%s: %d frames of the caller passed", c.name, passed)
		if passed < c.want {
			t.Errorf("%s: %d frames of the caller passed, want %d", c.name, passed, c.want)
		}
	}
}

// TestEchoGuardInSilence: without a reply nothing is explained away.
func TestEchoGuardInSilence(t *testing.T) {
	g := audio.NewEchoGuard()
	noise := audiotest.White(rand.New(rand.NewPCG(1, 2)), 320*100)
	for i := 0; i+320 <= len(noise); i += 320 {
		if g.Explains(time.Duration(i/320+1)*audio.FrameDuration, noise[i:i+320]) {
			t.Fatalf("frame %d was explained by a reply that never was", i/320)
		}
	}
}

func TestEchoGuardAllocatesNothing(t *testing.T) {
	g := audio.NewEchoGuard()
	frame := audiotest.Speech("hello").Samples[4800:5120]
	now := time.Duration(0)
	if n := testing.AllocsPerRun(1000, func() {
		g.Playing(now, frame)
		g.Alive(now)
		now += audio.FrameDuration
		g.Explains(now, frame)
	}); n != 0 {
		t.Errorf("%v allocations a frame", n)
	}
}

func BenchmarkEchoGuard(b *testing.B) {
	g := audio.NewEchoGuard()
	frame := audiotest.Speech("hello").Samples[4800:5120]
	now := time.Duration(0)
	b.ReportAllocs()
	for range b.N {
		g.Playing(now, frame)
		now += audio.FrameDuration
		g.Explains(now, frame)
	}
}

package bench

import (
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw/live/sim"
)

// TestUnknown prints what is not known as unknown, and as null.
func TestUnknown(t *testing.T) {
	t.Parallel()
	cfg := Config{Transport: WebSocket}
	if err := cfg.check(); err != nil {
		t.Fatal(err)
	}
	r := &run{cfg: cfg, report: &Report{Transport: WebSocket},
		sides: []*side{{name: gatewayName, found: found{waits: []time.Duration{time.Second}}}}}
	r.conclude()
	var text, object strings.Builder
	if err := r.report.WriteMarkdown(&text); err != nil {
		t.Fatal(err)
	}
	if err := r.report.WriteJSON(&object); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| processor time for a second of a call | unknown | unknown | unknown |",
		"| added to a frame up | unknown |", "| end of speech to first audio | 1000.00 |", "there is no relay"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, text.String())
		}
	}
	for _, want := range []string{`"gateway": null`, `"relay": null`, `"ratio": null`, `"added_ms": null`,
		`"interrupted_to_clear_ms": null`} {
		if !strings.Contains(object.String(), want) {
			t.Errorf("it has no %s:\n%s", want, object.String())
		}
	}
}

// TestMatch times frames by their numbers, and replies by their beginning. A frame that the model
// did not hear in time is lost.
func TestMatch(t *testing.T) {
	t.Parallel()
	start := time.Unix(1000, 0)
	at := func(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }
	f := &findings{sent: []sentFrame{{at(0), 5, false}, {at(640), 5, true}, {at(660), 6, true}, {at(680), 7, true}},
		waits: []wait{{at(700), at(1203)}}}
	heard := []notice{{1, sim.WatchedAudio, at(300), 5}, {1, sim.WatchedAudio, at(642), 5},
		{1, sim.WatchedAudio, at(680), 6},
		{1, sim.WatchedReply, at(100), 0}, {1, sim.WatchedReply, at(1200), 0}, {1, sim.WatchedAudio, at(1400), 7}}
	s := &side{}
	s.match(f, heard, func(t time.Time) bool { return t.After(at(-1)) })
	if q := quantiles(s.up); s.timed != 3 || s.lost != 1 || *q != (Quantiles{P50: 2, P95: 20, P99: 20, N: 2}) {
		t.Errorf("%d of %d lost, %+v", s.lost, s.timed, *q)
	}
	if q := quantiles(s.down); *q != (Quantiles{P50: 3, P95: 3, P99: 3, N: 1}) {
		t.Errorf("replies take %+v", *q)
	}
}

// FuzzTwilio reads anything.
func FuzzTwilio(f *testing.F) {
	f.Add([]byte(`{"event":"media","media":{"payload":"AAAA"},"mark":{"name":"m"}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if m, err := readTwilio(b); err != nil && (m.Event != "" || m.Media.Payload != nil) {
			t.Errorf("it is wrong and says %+v", m)
		}
	})
}

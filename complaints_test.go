//go:build !race

package voicegw_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/audio/audiotest"
	"github.com/voicegw/voicegw/live/sim"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/voicenets"
)

// The stories of complaints_*_test.go are what users of other voice frameworks suffer, told to
// ours. docs/complaints.md lists them. A subtest has the name of the public report whose shape it
// is.

// quick is a model that makes a whole reply at once and says that it is complete long before the
// caller heard it.
func quick(script string, t *testing.T) sim.Config {
	return sim.Config{FixedReply: speech("long", 24000), Speed: 40, Scenario: scenario(t, "about A quick model.\n"+script)}
}

// prompted is a gateway that asks a silent caller whether anybody is there, five seconds after the
// last sound, and hangs up five seconds after that.
func prompted() voicegw.Config {
	cfg := voicegw.Config{Prompts: map[voicenets.Prompt]voicegw.Prompt{
		voicenets.Reprompt: {PCM: speech("german", 16000), RateHz: 16000},
		voicenets.Goodbye:  {PCM: speech("over", 16000), RateHz: 16000},
	}}
	cfg.Net.RepromptAfter, cfg.Net.GoodbyeAfter = 5*time.Second, 5*time.Second
	return cfg
}

// starts are the beginnings of replies and prompts so far.
func (p *phone) starts() (list []heard) {
	for _, h := range p.all() {
		if h.Kind == transport.MessageTurn && h.State == transport.StateStart {
			list = append(list, h)
		}
	}
	return list
}

// like is how much of what a generation sounded like is ref.
func (p *phone) like(generation uint64, ref []int16) float64 {
	_, corr := audiotest.Align(ref, p.sound(generation))
	return corr
}

// lastHeard is when the last sound of a generation was audible.
func (p *phone) lastHeard(generation uint64) (at time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.player.Advance(p.now())
	for _, s := range p.player.Spans() {
		if s.Generation == generation {
			at = max(at, time.Duration(s.To)*time.Second/24000)
		}
	}
	return at
}

// TestDocumentedComplaints wants every story that docs/complaints.md names to be a test, and every
// story here to be named there.
func TestDocumentedComplaints(t *testing.T) {
	doc, err := os.ReadFile("docs/complaints.md")
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]bool{}
	err = filepath.WalkDir(".", func(path string, _ os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllStringSubmatch(string(text), -1) {
			tests[m[1]] = true
			if strings.HasPrefix(m[1], "TestComplaint") && !strings.Contains(string(doc), "`"+m[1]+"`") {
				t.Errorf("docs/complaints.md does not name %s", m[1])
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile("`(Test\\w+)`").FindAllStringSubmatch(string(doc), -1) {
		if !tests[m[1]] {
			t.Errorf("docs/complaints.md names %s, which is no test", m[1])
		}
	}
}

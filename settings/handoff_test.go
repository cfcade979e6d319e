package settings

import (
	"maps"
	"strings"
	"testing"

	"github.com/voicegw/voicegw"
)

// TestHandOffTargets reads targets in each of their forms, and gives the model its function only if it may have it.
func TestHandOffTargets(t *testing.T) {
	t.Parallel()
	want := map[string]string{"sales": "+4930123456", "desk": "sip:desk@example.com"}
	for _, c := range []struct {
		file string
		args []string
	}{
		{"handoff: {targets: {sales: +4930123456, desk: 'sip:desk@example.com'}, tool: true}", nil},
		{"handoff:\n  tool: true\n  targets: ['sales=+4930123456', 'desk=sip:desk@example.com']", nil},
		{"", []string{"--handoff-targets=sales=+4930123456, desk=sip:desk@example.com", "--handoff-tool"}},
	} {
		s, err := configured(t, c.file, nil, c.args...)
		if err != nil {
			t.Fatal(err)
		}
		cfg, err := s.Gateway()
		if err != nil || !maps.Equal(s.HandOff.Targets, want) {
			t.Errorf("%+v: %v, %v", c, s.HandOff.Targets, err)
		}
		if len(cfg.Tools) != 1 || cfg.Tools[0].Name != voicegw.TransferToolName {
			t.Errorf("%+v: the tools are %+v", c, cfg.Tools)
		}
	}
	s, err := configured(t, "handoff: {targets: {sales: '1'}}", nil)
	if err != nil {
		t.Fatal(err)
	}
	if cfg, err := s.Gateway(); err != nil || len(cfg.Tools) != 0 {
		t.Errorf("without handoff.tool the model has %+v, %v", cfg.Tools, err)
	}
	if s, err = configured(t, "handoff: {tool: true}", nil); err != nil ||
		!strings.Contains(strings.Join(s.Notes, "\n"), "handoff.targets is none") {
		t.Errorf("a tool without targets: %v, %v", s, err)
	}
}

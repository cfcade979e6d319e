package settings_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/settings"
)

// A server of your own reads the file that `voicegw serve --config` reads.
func ExampleRead() {
	dir, err := os.MkdirTemp("", "settings")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "voicegw.yaml")
	text := "calls_max: 20\nvoice: Puck\ntiming:\n  frame_gap: 400ms\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		panic(err)
	}
	s, err := settings.Read(settings.Sources{File: file, Environ: []string{"GEMINI_API_KEY=a-key"}})
	if err != nil {
		panic(err)
	}
	cfg, err := s.Gateway()
	if err != nil {
		panic(err)
	}
	cfg.Dialer = s.Wire()
	gw, err := voicegw.New(cfg)
	if err != nil {
		panic(err)
	}
	defer gw.Close()
	fmt.Println(cfg.CallsMax, cfg.Setup.Voice, cfg.Net.FrameGap)
	// Output: 20 Puck 400ms
}

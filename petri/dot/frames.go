package dot

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/voicegw/voicegw/petri"
)

// FramesMax is the most frames of a film.
const FramesMax = 1000

// Frame is one picture of a film: a marking, and what has led to it.
type Frame struct {
	Title   string
	Marking []int32
}

// WriteFrames draws the net once for each frame, as SVG does, into frame-000.svg
// and so on in a directory, which it makes if need be. It refuses more than
// FramesMax frames and a directory that has frames already.
func WriteFrames(dir string, p *petri.Program, frames []Frame) error {
	if len(frames) > FramesMax {
		return fmt.Errorf("dot: write frames of net %q: there are %d; at most %d are drawn", p.Name(), len(frames), FramesMax)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("dot: write frames of net %q: %w", p.Name(), err)
	}
	if old, err := fs.Glob(os.DirFS(dir), "frame-*.svg"); err != nil || len(old) > 0 {
		return fmt.Errorf("dot: write frames of net %q: %s has frames already", p.Name(), dir)
	}
	for i, f := range frames {
		if err := writeFrame(filepath.Join(dir, fmt.Sprintf("frame-%03d.svg", i)), p, f); err != nil {
			return fmt.Errorf("dot: write frame %d of net %q: %w", i, p.Name(), err)
		}
	}
	return nil
}

func writeFrame(name string, p *petri.Program, f Frame) error {
	data, err := SVG(p, Options{Marking: f.Marking, Title: f.Title})
	if err != nil {
		return err
	}
	return os.WriteFile(name, data, 0o644)
}

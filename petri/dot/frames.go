package dot

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/voicegw/voicegw/petri"
)

// framesMax limits the frames of a film.
const framesMax = 1000

// Frame is one picture of a film: a marking, and a title that says what led to it.
type Frame struct {
	Title   string
	Marking []int32
}

// WriteFrames draws the net once for each frame, like SVG, into the files frame-000.svg,
// frame-001.svg and so on of a directory. It creates the directory if it does not exist. It returns
// an error if there are more than 1,000 frames or if the directory already contains frames.
func WriteFrames(dir string, p *petri.Program, frames []Frame) error {
	if len(frames) > framesMax {
		return fmt.Errorf("dot: write frames of net %q: %d frames; at most %d are allowed", p.Name(), len(frames), framesMax)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("dot: write frames of net %q: %w", p.Name(), err)
	}
	if old, err := fs.Glob(os.DirFS(dir), "frame-*.svg"); err != nil || len(old) > 0 {
		return fmt.Errorf("dot: write frames of net %q: %s already contains frames", p.Name(), dir)
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

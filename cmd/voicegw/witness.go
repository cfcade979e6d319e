package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/dot"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/witness"
)

// keeping says where the first run that refutes something goes.
type keeping struct {
	script, frames string    // a file and a directory, or ""
	notes          io.Writer // what became of it, in words
	done           bool
	bare           bool // something was refuted, but not by a run
	err            error
}

func (k *keeping) wanted() bool { return k.script != "" || k.frames != "" }

// keep writes the witness of the first refuted property, once. open is the net that runs, if the witness is of that
// net closed. What goes wrong is for finish to say, when the verdicts are printed.
func (k *keeping) keep(r *verify.Report, open *petri.Program) {
	if !k.wanted() || k.done {
		return
	}
	w, property := k.first(r)
	if w == nil {
		return
	}
	k.done = true
	k.err = errors.Join(k.draw(w, property), k.write(w, property, open))
}

// keepShipped is keep for a net we ship.
func (k *keeping) keepShipped(r *verify.Report, n shippedNet) error {
	open, err := n.program()
	if err == nil {
		k.keep(r, open)
	}
	return err
}

func (k *keeping) draw(w *witness.Witness, property string) error {
	if k.frames == "" {
		return nil
	}
	if err := drawWitness(k.frames, w); err != nil {
		return usagef("--frames: %w", err)
	}
	fmt.Fprintf(k.notes, "%s: %s shows the run in %d frames\n", property, k.frames, len(w.Firings)+1)
	return nil
}

func (k *keeping) write(w *witness.Witness, property string, open *petri.Program) error {
	if k.script == "" {
		return nil
	}
	text, _, err := w.Script(open)
	if err != nil {
		return fmt.Errorf("--script: %w", err)
	}
	if err := os.WriteFile(k.script, []byte(text), 0o644); err != nil {
		return usagef("--script: %w", err)
	}
	fmt.Fprintf(k.notes, "%s: %s is the run as a script\n", property, k.script)
	return nil
}

// first is the witness of the first refuted property that has one.
func (k *keeping) first(r *verify.Report) (*witness.Witness, string) {
	for i := range r.Results {
		switch v := &r.Results[i]; {
		case v.Outcome != verify.Refuted:
		case v.Witness == nil:
			k.bare = true
		default:
			return v.Witness, v.Property.Name
		}
	}
	return nil, ""
}

// finish says why nothing was kept, or returns what went wrong.
func (k *keeping) finish() error {
	switch {
	case !k.wanted() || k.done:
	case k.bare:
		fmt.Fprintln(k.notes, "all runs together refute it, so there is no single run to write or draw")
	default:
		fmt.Fprintln(k.notes, "nothing is refuted: there is no run to write or draw")
	}
	return k.err
}

// drawWitness draws the net at the start of a run and after each firing.
func drawWitness(dir string, w *witness.Witness) error {
	var frames []dot.Frame
	for i, m := range w.Markings() {
		title := "start of " + w.Net
		if i > 0 {
			title = fmt.Sprintf("%d. %s", i, w.Firings[i-1].Name)
			if w.Timed {
				title += fmt.Sprintf(" at %v", w.Firings[i-1].At)
			}
		}
		if i == len(w.Firings) {
			title += ": " + w.Ends
		}
		frames = append(frames, dot.Frame{Title: title, Marking: m})
	}
	return dot.WriteFrames(dir, w.Program(), frames)
}

package main

import (
	"fmt"
	"os"

	"github.com/voicegw/voicegw/audio"
)

// output is the WAV that is written when the call is over. It is opened before the call, so that a
// wrong path ends the command at once.
type output struct {
	file    *os.File // nil: no WAV is wanted
	created bool     // the file is new
}

// createOutput opens a file without changing it; "" is none.
func createOutput(name string) (*output, error) {
	if name == "" {
		return &output{}, nil
	}
	_, err := os.Stat(name)
	created := os.IsNotExist(err)
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("--out: %w", err)
	}
	return &output{file: file, created: created}, nil
}

// write replaces the contents of the file.
func (o *output) write(pcm audio.PCM) error {
	if o.file == nil {
		return nil
	}
	file := o.file
	o.file = nil
	defer file.Close()
	if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
		if err := file.Truncate(0); err != nil {
			return fmt.Errorf("--out: %w", err)
		}
	}
	if err := audio.WriteWAV(file, pcm); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	return file.Close()
}

// abandon closes a file that was not written, and removes it if it is new.
func (o *output) abandon() {
	if o.file == nil {
		return
	}
	_ = o.file.Close()
	if o.created {
		_ = os.Remove(o.file.Name())
	}
}

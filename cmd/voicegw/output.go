package main

import (
	"fmt"
	"os"

	"github.com/voicegw/voicegw/audio"
)

// output is a WAV that will be written when the call is over. It is opened before, so that a wrong path is found out
// then.
type output struct {
	file    *os.File // nil when nothing is to be written
	created bool     // there was no such file
}

// createOutput opens the file of a name, which may be "", and leaves what it holds alone.
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

// write replaces what the file holds.
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

// abandon closes the file if it was not written, and removes it if it was not there before.
func (o *output) abandon() {
	if o.file == nil {
		return
	}
	_ = o.file.Close()
	if o.created {
		_ = os.Remove(o.file.Name())
	}
}

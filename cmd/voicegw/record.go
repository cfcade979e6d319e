package main

import (
	"io"
	"os"
	"path/filepath"
)

// recordEnding is that of a file with the events of a call.
const recordEnding = ".jsonl"

// canBeDirectory reports whether a path is that of a directory, or of nothing yet.
func canBeDirectory(path string) bool {
	info, err := os.Stat(path)
	return os.IsNotExist(err) || err == nil && info.IsDir()
}

// makeRecords makes the directory of a name, unless it is "", for its owner alone.
func makeRecords(dir string) error {
	if dir == "" {
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return usagef("record is %q; want a directory that can be written: %w", dir, err)
	}
	return nil
}

// recordIn writes the events of each call to a new file in a directory; nil when there is none.
func recordIn(dir string) func(call string) (io.WriteCloser, error) {
	if dir == "" {
		return nil
	}
	return func(call string) (io.WriteCloser, error) {
		name := filepath.Join(dir, filepath.Base(call)+recordEnding)
		return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	}
}

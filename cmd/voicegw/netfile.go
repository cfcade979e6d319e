package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify/netfile"
	"github.com/voicegw/voicegw/verify/netmodel"
)

// fieldNet is a net of a file, compiled.
type fieldNet struct {
	file *netfile.File
	prog *petri.Program
}

// readNet reads and compiles a file. A mistake in the file is a usage error that says where.
func readNet(name string) (*fieldNet, error) {
	data, err := readLimited(name, netfile.MaxBytes)
	if err != nil {
		return nil, &usageError{err}
	}
	f, err := netfile.Read(name, data)
	if err != nil {
		return nil, &usageError{inFile(err)}
	}
	if len(f.Net.Transitions) == 0 && len(f.Net.Init) == 0 && len(f.Net.Caps) == 0 {
		return nil, usagef("%s has no net in it", name)
	}
	p, err := petri.Compile(f.Net)
	if err != nil {
		return nil, usagef("%s: %w", name, err)
	}
	return &fieldNet{f, p}, nil
}

// inFile writes a mistake in a file as compilers do: FILE:LINE: what is wrong.
func inFile(err error) error {
	var at *netfile.Error
	switch {
	case !errors.As(err, &at):
		return err
	case at.Line == 0:
		return fmt.Errorf("%s: %s", at.Name, at.Problem)
	}
	return fmt.Errorf("%s:%d: %s", at.Name, at.Line, at.Problem)
}

// readLimited reads at most one byte more than most.
func readLimited(name string, most int64) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, most+1))
}

// model returns the model to explore, with the semantics of the file's format.
func (n *fieldNet) model() (*netmodel.Model, error) {
	m, err := n.file.Model(n.prog)
	if err != nil {
		return nil, &usageError{err}
	}
	return m, nil
}

// netEndings returns the endings of files with nets.
func netEndings() []string { return []string{".net", ".pnml", ".xml", ".tapn"} }

// isNetFile reports whether a name is that of a file, not of a net that we ship.
func isNetFile(name string) bool {
	if slices.Contains(netEndings(), strings.ToLower(filepath.Ext(name))) {
		return true
	}
	_, err := os.Stat(name)
	return err == nil
}

// oneFile checks that there is exactly one argument.
func oneFile(what string) func(args []string) error {
	return func(args []string) error {
		switch len(args) {
		case 1:
			return nil
		case 0:
			return usagef("which file? The argument is missing: %s", what)
		}
		return usagef("there is one argument too many: %q", args[1])
	}
}

// stopped shortens the error of an exploration that the user ended.
func stopped(err error) error {
	if errors.Is(err, context.Canceled) {
		return errors.New("stopped before the end")
	}
	return err
}

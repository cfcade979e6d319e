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
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/netfile"
)

// fieldNet is a net of a file, compiled.
type fieldNet struct {
	file *netfile.File
	prog *petri.Program
}

// readNet reads and compiles a file. Whatever is wrong with it is a usage error that says where.
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
		return nil, usagef("%s: there is no net in it", name)
	}
	p, err := petri.Compile(f.Net)
	if err != nil {
		return nil, usagef("%s: %w", name, err)
	}
	return &fieldNet{f, p}, nil
}

// inFile is a mistake in a file as compilers write it: FILE:LINE: what is wrong.
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

// readLimited reads a file, and one byte more than most if there is more.
func readLimited(name string, most int64) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, most+1))
}

// model lays the net out as the tools of the field read it.
func (n *fieldNet) model() (*verify.Model, error) {
	m, err := n.file.Model(n.prog)
	if err != nil {
		return nil, &usageError{err}
	}
	return m, nil
}

// netEndings are those of files with nets.
func netEndings() []string { return []string{".net", ".pnml", ".xml", ".tapn"} }

// isNetFile tells the name of a file from that of a net we ship.
func isNetFile(name string) bool {
	if slices.Contains(netEndings(), strings.ToLower(filepath.Ext(name))) {
		return true
	}
	_, err := os.Stat(name)
	return err == nil
}

// oneFile wants exactly one argument.
func oneFile(what string) func(args []string) error {
	return func(args []string) error {
		switch len(args) {
		case 1:
			return nil
		case 0:
			return usagef("which file? It takes %s", what)
		}
		return usagef("it takes one file, not %q too", args[1])
	}
}

// stopped says in fewer words that somebody ended an exploration.
func stopped(err error) error {
	if errors.Is(err, context.Canceled) {
		return errors.New("stopped before the end")
	}
	return err
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/voicenets"
)

// proofTimeout is how long serve takes at most to prove its nets: a few seconds of a processor, on a machine that may
// be busy with the calls of the process before it.
const proofTimeout = 2 * time.Minute

// prove makes sure that the gateway's nets are proved; serve takes no calls on others.
func prove(ctx context.Context, gw *voicegw.Gateway, stderr io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, proofTimeout)
	defer cancel()
	var cache voicenets.Cache
	kept := "nowhere"
	if dir, err := os.UserCacheDir(); err == nil {
		kept = filepath.Join(dir, "voicegw", "proofs")
		cache = proofCache(kept)
	}
	began := time.Now()
	proofs, err := gw.Prove(ctx, cache)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("the nets of calls were not proved within %v; a smaller timing.budget makes it quicker: %w",
			proofTimeout, err)
	case errors.Is(err, context.Canceled):
		return errors.New("ended before the nets of calls were proved")
	case err != nil:
		return fmt.Errorf("the nets of calls are not proved, so no calls are taken (certificates of timings of your own are "+
			"kept in %s): %w", kept, err)
	}
	for _, p := range proofs {
		if p.Source == voicenets.FromNow {
			fmt.Fprintf(stderr, "proved a net with these timings: %d properties, %d markings\n", len(p.Properties), p.Markings)
		}
	}
	fmt.Fprintf(stderr, "the nets of calls are proved: %d certificates checked in %.1f s\n", len(proofs),
		time.Since(began).Seconds())
	spareMemory()
	return nil
}

// gcPercent is by how much the memory of calls may grow until garbage is collected, unless GOGC is set. A call makes so
// little that collections are rare all the same.
const gcPercent = 35

// spareMemory gives back what the proofs took, some 200 MB, and has calls take less.
func spareMemory() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	debug.FreeOSMemory()
}

// proofCache is a directory of certificates.
type proofCache string

func (c proofCache) Load(name string) ([]byte, error) {
	return os.ReadFile(filepath.Join(string(c), name))
}

// Store writes a file whole or not at all.
func (c proofCache) Store(name string, certificate []byte) error {
	if err := os.MkdirAll(string(c), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(string(c), name)
	if err != nil {
		return err
	}
	_, err = f.Write(certificate)
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), filepath.Join(string(c), name))
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

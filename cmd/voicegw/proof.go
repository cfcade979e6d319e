package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/voicenets"
)

// proofTimeout is how long serve takes at most to prove its nets: a few seconds of a processor, on a machine that may
// be busy with the calls of the process before it.
const proofTimeout = 2 * time.Minute

// prove makes sure that the gateway's nets are proved; serve takes no calls on others.
func prove(ctx context.Context, gw *voicegw.Gateway, stderr io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, proofTimeout)
	defer cancel()
	defer spareMemory()
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(proofGCPercent)
	}
	var cache voicenets.Cache
	kept := "nowhere"
	tolerant := &tolerantCache{stderr: stderr}
	if dir, err := os.UserCacheDir(); err == nil {
		kept = filepath.Join(dir, "voicegw", "proofs")
		tolerant.kept = newProofCache(kept, stderr)
		cache = tolerant
	}
	began := time.Now()
	proofs, err := gw.Prove(ctx, cache)
	if errors.Is(err, verify.ErrCertificate) && tolerant.used() {
		fmt.Fprintf(stderr, "a certificate in %s is damaged, so everything is proved anew: %v\n", kept, err)
		tolerant.distrust()
		proofs, err = gw.Prove(ctx, cache)
	}
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
	claims, source := 0, voicenets.FromShipped
	for _, p := range proofs {
		claims += len(p.Claims)
		if p.Source == voicenets.FromNow {
			source = p.Source
			fmt.Fprintf(stderr, "proved a net with these settings (%s): %d claims, %d markings\n", p.Name, len(p.Claims),
				p.Markings)
		}
	}
	verb := "checked"
	if source == voicenets.FromNow {
		verb = "made and checked"
	}
	fmt.Fprintf(stderr, "the nets of calls are proved: %d claims about %d kinds of session, certificates %s in %.1f s\n",
		claims, len(proofs), verb, time.Since(began).Seconds())
	return nil
}

// gcPercent is by how much the memory of calls may grow until garbage is collected, unless GOGC is set. A call makes so
// little that collections are rare all the same.
const gcPercent = 35

// proofGCPercent is the same while nets are proved, which takes some 200 MB for a moment.
const proofGCPercent = 400

// spareMemory gives back what the proofs took, and has calls take less.
func spareMemory() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	debug.FreeOSMemory()
}

// tolerantCache is a cache that may fail: the nets are proved without it then, and a warning says so, once. Safe for
// concurrent use.
type tolerantCache struct {
	kept   voicenets.Cache
	stderr io.Writer

	mu                         sync.Mutex
	loaded, distrusted, warned bool
}

// Load returns fs.ErrNotExist for what cannot be read.
func (c *tolerantCache) Load(name string) ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.distrusted {
		return nil, fs.ErrNotExist
	}
	data, err := c.kept.Load(name)
	if err == nil {
		c.loaded = true
		return data, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		c.warn(err)
	}
	return nil, fs.ErrNotExist
}

// Store keeps a certificate, if that is possible.
func (c *tolerantCache) Store(name string, certificate []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.kept.Store(name, certificate); err != nil {
		c.warn(err)
	}
	return nil
}

// warn says what is wrong with the cache; mu is held.
func (c *tolerantCache) warn(err error) {
	if !c.warned {
		fmt.Fprintf(c.stderr, "warning: certificates cannot be kept, so every start proves the nets again: %v\n", err)
	}
	c.warned = true
}

// used reports whether a certificate came from the cache.
func (c *tolerantCache) used() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.loaded
}

// distrust makes the cache forget what it has; what is proved now replaces it.
func (c *tolerantCache) distrust() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.distrusted = true
}

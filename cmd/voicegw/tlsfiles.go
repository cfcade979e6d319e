package main

import (
	"crypto/tls"
	"os"
	"sync"
	"time"

	"go.uber.org/zap"
)

// certificateFiles is a certificate in two files. It reads them again when they change, so that a
// renewal needs no restart. Safe for concurrent use.
type certificateFiles struct {
	cert, key string
	log       *zap.Logger
	now       func() time.Time

	mu     sync.Mutex
	pair   *tls.Certificate
	stamp  [2]stamp
	looked time.Time
}

// stamp shows whether a file has changed.
type stamp struct {
	at   time.Time
	size int64
}

// lookEvery is the least time between two looks at the files, which connections cause.
const lookEvery = time.Second

// readCertificate reads both files.
func readCertificate(cert, key string, log *zap.Logger) (*certificateFiles, error) {
	c := &certificateFiles{cert: cert, key: key, log: log, now: time.Now}
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return nil, err
	}
	c.pair, c.stamp, c.looked = &pair, c.stamps(), c.now()
	return c, nil
}

// get is tls.Config.GetCertificate. If the files do not fit, it keeps the old certificate: a
// renewal writes them one after the other.
func (c *certificateFiles) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	if now.Sub(c.looked) < lookEvery {
		return c.pair, nil
	}
	c.looked = now
	if s := c.stamps(); s != c.stamp {
		pair, err := tls.LoadX509KeyPair(c.cert, c.key)
		if err != nil {
			c.log.Warn("the certificate changed and cannot be read; the old one stays in use", zap.Error(err))
			return c.pair, nil
		}
		c.pair, c.stamp = &pair, s
		c.log.Info("certificate read again", zap.String("file", c.cert), zap.Time("until", pair.Leaf.NotAfter))
	}
	return c.pair, nil
}

func (c *certificateFiles) stamps() (s [2]stamp) {
	for i, name := range [2]string{c.cert, c.key} {
		if info, err := os.Stat(name); err == nil {
			s[i] = stamp{info.ModTime(), info.Size()}
		}
	}
	return s
}

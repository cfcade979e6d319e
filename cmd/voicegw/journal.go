package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/voicegw/voicegw/journal"
	"github.com/voicegw/voicegw/journal/jetstream"
	"github.com/voicegw/voicegw/journal/postgres"
	"github.com/voicegw/voicegw/settings"
)

// How long a journal may take to open. One in a cluster waits until a majority of the nodes is there.
const (
	journalStart = 30 * time.Second
	clusterStart = 5 * time.Minute
)

// openJournal opens the journal of the sessions of agents. Its errors name no password.
func openJournal(ctx context.Context, s *settings.Settings, node string) (journal.Engine, error) {
	j := &s.Journal
	limit := journalStart
	if j.Listen != "" {
		limit = clusterStart
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if strings.HasPrefix(j.URL, "postgres") {
		e, err := postgres.Open(ctx, postgres.Config{URL: j.URL})
		if err != nil {
			return nil, fmt.Errorf("open journal: %w", err)
		}
		return e, nil
	}
	cfg := jetstream.Config{Dir: s.DataDir, URL: j.URL, Replicas: j.Replicas}
	if j.Listen != "" {
		secret, err := s.Secret("cluster.secret_file", j.SecretFile)
		if err != nil {
			return nil, &usageError{err}
		}
		cfg.Cluster = &jetstream.Cluster{Name: "voicegw", Node: node, Listen: j.Listen, Secret: secret}
		for _, r := range j.Routes {
			cfg.Cluster.Routes = append(cfg.Cluster.Routes, "nats://"+r)
		}
	}
	e, err := jetstream.Open(ctx, cfg)
	if err != nil && s.DataDir != "" {
		return nil, fmt.Errorf("open data_dir: %w", err)
	}
	if err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	return e, nil
}

var notInNames = regexp.MustCompile(`[^A-Za-z0-9]+`)

// nodeName is the setting node. Its default is the name of the machine and a random part, so that two
// processes never have the same.
func nodeName(j *settings.Journal) string {
	if j.Node != "" {
		return j.Node
	}
	host, _ := os.Hostname()
	if host = strings.Trim(notInNames.ReplaceAllString(host, "-"), "-"); len(host) > 40 {
		host = host[:40]
	}
	return strings.TrimLeft(host+"-"+strings.ToLower(rand.Text()[:8]), "-")
}

package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
)

// side is a durable engine that runs the agent.
type side interface {
	// open starts the engine on a directory, which may have the data of an earlier process.
	open(ctx context.Context, dir string) error
	// durable asks the engine how it syncs, and fails if it does not sync every commit.
	durable(ctx context.Context) (string, error)
	// begin makes a session that waits for a message.
	begin(ctx context.Context) (session string, err error)
	// turn sends a message and waits until the session is idle. It returns the answer. Turns of several sessions may
	// run at once.
	turn(ctx context.Context, session, id, text string) (string, error)
	// resume waits for the end of a turn that an earlier process began after n others.
	resume(ctx context.Context, session, id string, n int) (string, error)
	// stored is how many bytes the data of the engine have on the disk, without what it may drop.
	stored(ctx context.Context) (int64, error)
	// servers are the processes of the engine beside this one.
	servers() []int
	// close ends what open has begun, also after it failed.
	close()
}

// names are the sides.
func names() []string {
	return []string{"voicegw/jetstream", "temporal/sqlite", "temporal/sqlite-local", "voicegw/postgres",
		"temporal/postgres"}
}

func newSide(name string, t *tool) (side, error) {
	switch name {
	case "voicegw/jetstream":
		return &voicegw{tool: t}, nil
	case "voicegw/postgres":
		return &voicegw{tool: t, database: &database{}}, nil
	case "temporal/sqlite":
		return &temporal{tool: t}, nil
	case "temporal/sqlite-local":
		return &temporal{tool: t, local: true}, nil
	case "temporal/postgres":
		return &temporal{tool: t, database: &database{}}, nil
	}
	return nil, fmt.Errorf("there is no side %q; give some of %q", name, names())
}

// restartable tells whether all of a side is in one process, which can be killed.
func restartable(name string) bool { return !strings.HasSuffix(name, "/postgres") }

// What is said in a turn.
const (
	question = "Please book a table for four people at eight."
	booked   = "The table is booked."
	unknown  = "I do not know whether the table is booked."
	toolName = "book"
)

// toolArgs and toolResult are new at every call, as decoded ones are.
func toolArgs() map[string]any { return map[string]any{"people": 4, "hour": 20} }

func toolResult() map[string]any { return map[string]any{"table": 7, "confirmation": "K2-7781"} }

// tool books a table. It must not run twice.
type tool struct {
	calls atomic.Int64
	// hang is a file. If it is set, the call writes it and does not return.
	hang string
}

func (t *tool) call(ctx context.Context) (map[string]any, error) {
	t.calls.Add(1)
	if t.hang == "" {
		return toolResult(), nil
	}
	if err := os.WriteFile(t.hang, nil, 0o600); err != nil {
		return nil, err
	}
	<-ctx.Done()
	return nil, ctx.Err()
}

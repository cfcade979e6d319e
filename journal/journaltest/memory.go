package journaltest

import "github.com/voicegw/voicegw/journal/memory"

// Memory is an engine that keeps everything in memory and can misbehave.
type Memory = memory.Engine

// NewMemory returns an empty engine.
func NewMemory() *Memory { return memory.New() }

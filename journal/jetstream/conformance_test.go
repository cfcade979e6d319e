package jetstream_test

import (
	"testing"

	"github.com/voicegw/voicegw/journal"
	"github.com/voicegw/voicegw/journal/journaltest"
)

func TestConformance(t *testing.T) {
	journaltest.Run(t, func(t *testing.T, dir string) journal.Engine { return open(t, dir) })
}

package journaltest_test

import (
	"testing"

	"github.com/voicegw/voicegw/journal"
	"github.com/voicegw/voicegw/journal/journaltest"
)

func TestMemory(t *testing.T) {
	journaltest.Run(t, func(*testing.T, string) journal.Engine { return journaltest.NewMemory() })
}

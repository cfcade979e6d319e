package gemini

import (
	"fmt"
	"strings"
)

// notesMax is how many notes a call has at most.
const notesMax = 32

// notes say what the gateway did not do of what the client asked for, and why. Each field is noted
// once in a call.
type notes struct {
	noted map[string]bool // by field
	fresh []string        // those not told yet
}

// add notes a field, by its path in lowerCamelCase.
func (n *notes) add(field, why string) {
	if n.noted[field] || len(n.noted) > notesMax {
		return
	}
	if n.noted == nil {
		n.noted = map[string]bool{}
	}
	n.noted[field] = true
	if len(n.noted) > notesMax {
		n.fresh = append(n.fresh, fmt.Sprintf("further fields have no effect; only the first %d are named", notesMax))
		return
	}
	n.fresh = append(n.fresh, field+": "+why+".")
}

// take returns the notes that were not told yet.
func (n *notes) take() []string {
	fresh := n.fresh
	n.fresh = nil
	return fresh
}

// plainName returns the name of an unknown field, for logs and messages. It does not quote a name
// that may be something else: a number, or a text.
func plainName(name string) string {
	const most = 40
	letters := strings.Trim(name, "_") != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r != '_'
	})
	if len(name) > most || !letters {
		return fmt.Sprintf("(a name of %d bytes)", len(name))
	}
	return name
}

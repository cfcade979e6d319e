package voicegw

import (
	"errors"
	"fmt"

	"github.com/voicegw/voicegw/petri"
)

// errUnknown means that the net of a call asked for something for which the gateway has no case: a
// fault of the gateway, which ends the call.
var errUnknown = errors.New("the gateway does not know what the net of the call asks for")

// unknown is the error for a value of the net, such as a command. It wraps errUnknown.
func unknown(kind string, value petri.Keyed) error {
	name := "without a name"
	if names := value.KeyNames(); int(value.Key()) < len(names) {
		name = names[value.Key()]
	}
	return fmt.Errorf("%w: %s %d (%s)", errUnknown, kind, value.Key(), name)
}

// unknownOutput is the error for an output of the net. It wraps errUnknown.
func unknownOutput(t petri.Token) error {
	return fmt.Errorf("%w: output %q with a %T", errUnknown, t.Place(), t.Value())
}

package foreign

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
)

// Fault says what is wrong with a message that could not be decoded: at which place and of which kind, and nothing of
// what the message says. A decoder's own error may quote it, and with it what a caller said or typed.
func Fault(err error) string {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	var corrupt base64.CorruptInputError
	switch {
	case errors.As(err, &syntax):
		return fmt.Sprintf("broken JSON at byte %d", syntax.Offset)
	case errors.As(err, &kind) && kind.Field != "":
		return fmt.Sprintf("field %q has the wrong type", kind.Field)
	case errors.As(err, &kind):
		return fmt.Sprintf("the value at byte %d has the wrong type", kind.Offset)
	case errors.As(err, &corrupt):
		return "data is not standard base64"
	}
	return "a field has an unreadable value"
}

// Kind says what a JSON value is and how long, not what it says: "a string of 16 bytes", "a number". Nothing at all is
// "missing".
func Kind(value []byte) string {
	if len(value) == 0 {
		return "missing"
	}
	switch value[0] {
	case '"':
		return fmt.Sprintf("a string of %d bytes", max(0, len(value)-2))
	case '{':
		return "an object"
	case '[':
		return "an array"
	case 't', 'f':
		return "true or false"
	case 'n':
		return "null"
	}
	return "another number"
}

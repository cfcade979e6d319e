package transport

import (
	"encoding/json"
	"fmt"
	"strings"
)

// CheckMessage returns a [*FieldError] for a message between the application and its page that is
// out of range. A name has 1 to 64 bytes of A-Z, a-z, 0-9, ".", "_" and "-". The data is JSON of at
// most 64 KiB.
func CheckMessage(name, data string) error {
	if n := len(name); n == 0 || n > MessageNameLenMax || strings.ContainsFunc(name, notInName) {
		return &FieldError{Event: "message", Field: "name", Value: size(name),
			Want: "1 to 64 of A-Z, a-z, 0-9, \".\", \"_\", \"-\""}
	}
	if len(data) > MessageDataLenMax || !json.Valid([]byte(data)) {
		return &FieldError{Event: "message", Field: "data", Value: fmt.Sprintf("%d bytes long", len(data)),
			Want: "JSON of at most 65536 bytes"}
	}
	return nil
}

func notInName(r rune) bool { return notAlphanumeric(r) && !strings.ContainsRune("._-", r) }

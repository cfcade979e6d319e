package ws

import (
	"encoding/json"
	"errors"
)

// appendPageMessage appends a message between the application and its page, either way.
func appendPageMessage(dst []byte, name, data string) ([]byte, error) {
	if !json.Valid([]byte(data)) {
		return nil, errors.New("the data of a message must be JSON")
	}
	dst = appendText(appendType(dst, "message"), "name", name)
	return append(append(appendKey(dst, "data"), data...), '}'), nil
}

// takePageMessage reads a message, whatever its fields are: the receiver refuses what is out of
// range, because such a message must not end the call. A name that is no string becomes "", absent
// data null.
func takePageMessage(o *object) (name, data string) {
	if json.Unmarshal(o.members["name"], &name) != nil {
		name = ""
	}
	if data = string(o.members["data"]); data == "" {
		data = "null"
	}
	return name, data
}

package asterisk

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/voicegw/voicegw/internal/foreign"
)

// errControl says that a text message is not a control message.
var errControl = errors.New("a text message must be a control message of Asterisk's")

// control is a control message, in either format. The event decides which fields have a meaning.
type control struct {
	Event     string            `json:"event"`
	Channel   string            `json:"channel_id"`
	Format    string            `json:"format"`
	FrameSize int               `json:"optimal_frame_size"` // bytes
	Ptime     int               `json:"ptime"`              // ms
	Variables map[string]string `json:"channel_variables"`
	Mark      string            `json:"correlation_id"`
	Digit     string            `json:"digit"`
	Error     string            `json:"error_text"`
}

// isJSON reports whether a message is JSON; Asterisk uses one format for all messages of a channel.
func isJSON(b []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(b), []byte("{")) }

// readControl reads a control message.
func readControl(b []byte) (control, error) {
	if isJSON(b) {
		return readJSON(b)
	}
	return readPlain(string(b))
}

func readJSON(b []byte) (c control, err error) {
	if err := json.Unmarshal(b, &c); err != nil {
		return c, fmt.Errorf("%w: %s", errControl, foreign.Fault(err))
	}
	if c.Event == "" {
		return c, errControl
	}
	return c, nil
}

// readPlain reads "EVENT name:value name:value" and "EVENT id".
func readPlain(s string) (c control, err error) {
	var rest string
	c.Event, rest, _ = strings.Cut(strings.TrimSpace(s), " ")
	if c.Event == "" || strings.Trim(c.Event, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") != "" {
		return control{}, errControl
	}
	switch c.Event {
	case "MEDIA_MARK_PROCESSED", "MEDIA_BUFFERING_COMPLETED":
		c.Mark = rest
		return c, nil
	case "ERROR":
		_, c.Error, _ = strings.Cut(rest, "error_text:")
		return c, nil
	}
	for field := range strings.FieldsSeq(rest) {
		name, value, _ := strings.Cut(field, ":")
		if err := c.set(name, value); err != nil {
			return c, err
		}
	}
	return c, nil
}

// set sets a field of a plain-text message. It ignores an unknown field.
func (c *control) set(name, value string) (err error) {
	switch name {
	case "channel_id":
		c.Channel = value
	case "format":
		c.Format = value
	case "digit":
		c.Digit = value
	case "optimal_frame_size":
		c.FrameSize, err = strconv.Atoi(value)
	case "ptime":
		c.Ptime, err = strconv.Atoi(value)
	}
	if err != nil {
		return fmt.Errorf("%w: %s is no number", errControl, name)
	}
	return nil
}

// writer writes commands in the format that the far end reads.
type writer struct{ json bool }

// appendCommand appends a command with an optional id, which must need no quoting. Asterisk takes
// 128 bytes at most.
func (w writer) appendCommand(dst []byte, command string, id []byte) []byte {
	if !w.json {
		dst = append(dst, command...)
		if id != nil {
			dst = append(append(dst, ' '), id...)
		}
		return dst
	}
	dst = append(append(dst, `{"command":"`...), command...)
	if id != nil {
		dst = append(append(dst, `","correlation_id":"`...), id...)
	}
	return append(dst, `"}`...)
}

package rtc

import (
	"errors"
	"fmt"
	"strings"
)

const (
	candidatesMax   = 32  // of one fragment
	candidateLenMax = 512 // bytes
)

// fragment is a part of an SDP with ICE parameters (RFC 8840 section 9, as RFC 9725 section 4.3
// uses it).
type fragment struct {
	ufrag, pwd string
	candidates []string // as "candidate:..." without a=
	mid        string   // of the first section
}

// parseFragment reads a fragment. It ignores unknown lines; there must be credentials.
func parseFragment(text string) (*fragment, error) {
	f := &fragment{}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if line == "" {
			continue
		}
		if len(line) < 2 || line[1] != '=' {
			return nil, errors.New("a line is not SDP")
		}
		key, value, _ := strings.Cut(line, ":")
		if err := f.line(key, value); err != nil {
			return nil, err
		}
	}
	return f, checkCredentials(f.ufrag, f.pwd)
}

// line takes one line. Several sections may repeat the same credentials.
func (f *fragment) line(key, value string) error {
	switch key {
	case "a=ice-ufrag":
		return once(&f.ufrag, value)
	case "a=ice-pwd":
		return once(&f.pwd, value)
	case "a=mid":
		if f.mid == "" {
			f.mid = value
		}
	case "a=candidate":
		if len(f.candidates) == candidatesMax || len(value) > candidateLenMax {
			return fmt.Errorf("more than %d candidates, or one of more than %d bytes", candidatesMax, candidateLenMax)
		}
		f.candidates = append(f.candidates, "candidate:"+value)
	}
	return nil
}

func once(field *string, value string) error {
	if *field != "" && *field != value {
		return errors.New("the fragment has two different credentials")
	}
	*field = value
	return nil
}

// oneComponent returns an answer without the candidates for RTCP alone: it shares the way of RTP
// (RFC 8858), and each candidate is there once.
func oneComponent(answer string) string {
	var b strings.Builder
	for line := range strings.Lines(answer) {
		if fields := strings.Fields(line); !strings.HasPrefix(line, "a=candidate:") || len(fields) < 2 || fields[1] == "1" {
			b.WriteString(line)
		}
	}
	return b.String()
}

// fragmentOf returns the answer to an ICE restart: the credentials and candidates of an answer in
// SDP.
func fragmentOf(answer string) string {
	var head, section strings.Builder
	media, first := false, true
	for line := range strings.Lines(answer) {
		switch {
		case strings.HasPrefix(line, "m="):
			if media {
				first = false
			}
			media = true
			if first {
				section.WriteString(line)
			}
		case strings.HasPrefix(line, "a=ice-lite"), strings.HasPrefix(line, "a=ice-options"):
			head.WriteString(line)
		case first && (strings.HasPrefix(line, "a=ice-ufrag:") || strings.HasPrefix(line, "a=ice-pwd:")):
			head.WriteString(line)
		case first && media && (strings.HasPrefix(line, "a=mid:") || strings.HasPrefix(line, "a=candidate:") ||
			strings.HasPrefix(line, "a=end-of-candidates")):
			section.WriteString(line)
		}
	}
	return head.String() + section.String()
}

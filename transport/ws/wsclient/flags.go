package wsclient

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ParseBargeIn reads "over.wav@2s": a file, and the position in a reply at which the caller says
// it.
func ParseBargeIn(s string) (path string, after time.Duration, err error) {
	i := strings.LastIndexByte(s, '@')
	if i <= 0 {
		return "", 0, fmt.Errorf("barge-in %q: want FILE@TIME, such as over.wav@2s", s)
	}
	after, err = time.ParseDuration(s[i+1:])
	if err != nil || after < 0 {
		return "", 0, fmt.Errorf("barge-in %q: the time is %q; want one such as 2s or 1500ms", s, s[i+1:])
	}
	return s[:i], after, nil
}

// ParseEcho reads "120ms,-15dB": a delay and a level.
func ParseEcho(s string) (Echo, error) {
	delay, level, ok := strings.Cut(s, ",")
	if !ok {
		return Echo{}, fmt.Errorf("echo %q: want DELAY,LEVEL, such as 120ms,-15dB", s)
	}
	d, err := time.ParseDuration(strings.TrimSpace(delay))
	if err != nil {
		return Echo{}, fmt.Errorf("echo %q: the delay is %q; want one such as 120ms", s, delay)
	}
	number, ok := strings.CutSuffix(strings.TrimSpace(level), "dB")
	gain, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if !ok || err != nil {
		return Echo{}, fmt.Errorf("echo %q: the level is %q; want one such as -15dB", s, level)
	}
	e := Echo{On: true, Delay: d, GainDB: gain}
	if err := e.check(); err != nil {
		return Echo{}, fmt.Errorf("echo %q: %w", s, err)
	}
	return e, nil
}

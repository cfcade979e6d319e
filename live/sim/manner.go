package sim

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// manner is how a connection behaves: the configuration as the settings of a scenario change it.
type manner struct {
	Config

	words           transcripts
	wordsLate       time.Duration // after turn complete
	pongLate        time.Duration
	noPongs         bool
	frameBytes      int           // a message is split into frames of this size; 0 is never
	bareInterrupted bool          // no turn complete follows
	wedge           bool          // nothing but the tool's reply ends a call
	short           time.Duration // turns with less speech are ignored
	forgetful       bool          // every handle is unknown
}

// transcripts is how the words of either side come.
type transcripts uint8

const (
	wordsAsSpoken transcripts = iota // piece by piece, never called finished
	wordsMissing
	wordsFinished // as spoken, and the last piece is called finished
	wordsAtOnce   // whole, with the first audio, called finished
	wordsLate     // whole, some time after turn complete
)

// settingNames are the words of the language.
func settingNames() []string {
	return []string{"speed", "latency", "chunks", "pongs", "frames", "transcripts", "turn_complete", "interrupted",
		"handles", "tools", "short"}
}

// parseSetting reads a line that is no rule.
func parseSetting(name, text string) (setting, error) {
	var set setting
	var err error
	switch name {
	case "speed":
		set, err = parseSpeed(text)
	case "latency":
		set, err = spanSetting(text, 10*time.Second, func(m *manner, d time.Duration) { m.Latency = d })
	case "short":
		set, err = spanSetting(text, time.Minute, func(m *manner, d time.Duration) { m.short = d })
	case "chunks":
		set, err = parseChunks(text)
	case "frames":
		n, wrong := parseCount(text)
		set, err = func(m *manner) { m.frameBytes = n }, wrong
	case "pongs":
		if text == "never" {
			return func(m *manner) { m.noPongs = true }, nil
		}
		set, err = spanSetting(text, time.Hour, func(m *manner, d time.Duration) { m.pongLate = d })
	case "transcripts":
		set, err = parseTranscripts(text)
	default:
		return parseHabit(name, text)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return set, nil
}

func spanSetting(text string, most time.Duration, set func(*manner, time.Duration)) (setting, error) {
	d, err := parseSpan(text, most)
	return func(m *manner) { set(m, d) }, err
}

func parseSpeed(text string) (setting, error) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || !(f >= 0.1 && f <= 1000) {
		return nil, fmt.Errorf("%.20q; want 0.1 to 1000 times real time", text)
	}
	return func(m *manner) { m.Speed = f }, nil
}

// parseChunks reads one size, or the smallest and the largest.
func parseChunks(text string) (setting, error) {
	first, second := cutWord(text)
	if second == "" {
		second = first
	}
	least, err := parseSpan(first, 2*time.Second)
	if err != nil {
		return nil, err
	}
	most, err := parseSpan(second, 2*time.Second)
	if err == nil && (least < time.Millisecond || most < least) {
		err = fmt.Errorf("%.40q; want the smallest, at least 1ms, and then the largest", text)
	}
	return func(m *manner) { m.ChunkMin, m.ChunkMax = least, most }, err
}

func parseTranscripts(text string) (setting, error) {
	if late, ok := strings.CutPrefix(text, "late "); ok {
		d, err := parseSpan(late, time.Minute)
		return func(m *manner) { m.words, m.wordsLate = wordsLate, d }, err
	}
	way, ok := map[string]transcripts{"missing": wordsMissing, "finished": wordsFinished, "at_once": wordsAtOnce}[text]
	if !ok {
		return nil, fmt.Errorf("%.20q; want missing, finished, at_once or late DURATION", text)
	}
	return func(m *manner) { m.words = way }, nil
}

// habits are the settings with a fixed choice of words.
func habits() map[string]setting {
	return map[string]setting{
		"turn_complete never":                 func(m *manner) { m.Faults.NoTurnComplete = true },
		"turn_complete not_after_interrupted": func(m *manner) { m.bareInterrupted = true },
		"interrupted with_audio":              func(m *manner) { m.Faults.AudioWithInterrupted = true },
		"handles never":                       func(m *manner) { m.Faults.NeverResumable = true },
		"handles forgotten":                   func(m *manner) { m.forgetful = true },
		"tools wedge":                         func(m *manner) { m.wedge = true },
	}
}

func parseHabit(name, text string) (setting, error) {
	if set, ok := habits()[name+" "+text]; ok {
		return set, nil
	}
	var choices []string
	for _, way := range slices.Sorted(maps.Keys(habits())) {
		if own, ok := strings.CutPrefix(way, name+" "); ok {
			choices = append(choices, own)
		}
	}
	if len(choices) > 0 {
		return nil, fmt.Errorf("%s: %.20q; want %s", name, text, strings.Join(choices, " or "))
	}
	known := append(settingNames(), "about", "connection", "on")
	return nil, fmt.Errorf("no setting %.20q; the nearest is %q", name, nearest(name, known))
}

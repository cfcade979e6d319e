package sim

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// behavior is the configuration of a connection, with the settings of the scenario.
type behavior struct {
	Config

	transcripts      transcripts
	transcriptsDelay time.Duration // after turn complete
	pongLate         time.Duration
	noPongs          bool
	frameBytes       int           // size of the frames of a message; 0: one frame
	bareInterrupted  bool          // no turn complete follows
	wedge            bool          // only the reply of a tool ends its call
	short            time.Duration // turns with less speech get no answer
	forgetful        bool          // knows no handles
}

// transcripts says when and how the transcripts of both sides come.
type transcripts uint8

const (
	transcriptsAsSpoken transcripts = iota // in pieces, never marked as finished
	transcriptsMissing
	transcriptsFinished // in pieces, the last marked as finished
	transcriptsAtOnce   // whole, with the first audio
	transcriptsLate     // whole, some time after turn complete
)

// settingNames returns the names of settings in the scenario language.
func settingNames() []string {
	return []string{"speed", "latency", "chunks", "pongs", "frames", "transcripts", "turn_complete", "interrupted",
		"handles", "tools", "short"}
}

// parseSetting reads a line with a setting.
func parseSetting(name, text string) (setting, error) {
	var set setting
	var err error
	switch name {
	case "speed":
		set, err = parseSpeed(text)
	case "latency":
		set, err = spanSetting(text, 10*time.Second, func(m *behavior, d time.Duration) { m.Latency = d })
	case "short":
		set, err = spanSetting(text, time.Minute, func(m *behavior, d time.Duration) { m.short = d })
	case "chunks":
		set, err = parseChunks(text)
	case "frames":
		n, wrong := parseCount(text)
		set, err = func(m *behavior) { m.frameBytes = n }, wrong
	case "pongs":
		if text == "never" {
			return func(m *behavior) { m.noPongs = true }, nil
		}
		set, err = spanSetting(text, time.Hour, func(m *behavior, d time.Duration) { m.pongLate = d })
	case "transcripts":
		set, err = parseTranscripts(text)
	default:
		return parseChoice(name, text)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return set, nil
}

func spanSetting(text string, most time.Duration, set func(*behavior, time.Duration)) (setting, error) {
	d, err := parseSpan(text, most)
	return func(m *behavior) { set(m, d) }, err
}

func parseSpeed(text string) (setting, error) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || !(f >= 0.1 && f <= 1000) {
		return nil, fmt.Errorf("%.20q; want 0.1 to 1000 times real time", text)
	}
	return func(m *behavior) { m.Speed = f }, nil
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
	return func(m *behavior) { m.ChunkMin, m.ChunkMax = least, most }, err
}

func parseTranscripts(text string) (setting, error) {
	if late, ok := strings.CutPrefix(text, "late "); ok {
		d, err := parseSpan(late, time.Minute)
		return func(m *behavior) { m.transcripts, m.transcriptsDelay = transcriptsLate, d }, err
	}
	way, ok := map[string]transcripts{"missing": transcriptsMissing, "finished": transcriptsFinished,
		"at_once": transcriptsAtOnce}[text]
	if !ok {
		return nil, fmt.Errorf("%.20q; want missing, finished, at_once or late DURATION", text)
	}
	return func(m *behavior) { m.transcripts = way }, nil
}

// choiceSettings returns the settings with a fixed choice of values.
func choiceSettings() map[string]setting {
	return map[string]setting{
		"turn_complete never":                 func(m *behavior) { m.Faults.NoTurnComplete = true },
		"turn_complete not_after_interrupted": func(m *behavior) { m.bareInterrupted = true },
		"interrupted with_audio":              func(m *behavior) { m.Faults.AudioWithInterrupted = true },
		"handles never":                       func(m *behavior) { m.Faults.NeverResumable = true },
		"handles forgotten":                   func(m *behavior) { m.forgetful = true },
		"tools wedge":                         func(m *behavior) { m.wedge = true },
	}
}

func parseChoice(name, text string) (setting, error) {
	if set, ok := choiceSettings()[name+" "+text]; ok {
		return set, nil
	}
	var choices []string
	for _, way := range slices.Sorted(maps.Keys(choiceSettings())) {
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

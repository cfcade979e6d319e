package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/voicegw/voicegw/audio"
)

// setting is one key of the configuration. It has three spellings: timing.frame_gap in the file,
// VOICEGW_TIMING_FRAME_GAP in the environment, --timing-frame-gap on the command line.
type setting struct {
	key   string
	kind  string // a word for --help: text, list, number, time, bool
	def   string // as people read it
	want  string // what would be right
	doc   string // what it is for, one sentence without its full stop
	store func(*options, value) bool
}

// value is what somebody gave for a setting.
type value struct {
	text  string
	list  []string          // of a list in the file; text is its items, comma-separated
	texts map[string]string // of a map of texts in the file
	shape string            // what stands where a value is wanted: "a list"
	from  source
}

// source is where a value came from.
type source struct {
	rank rank
	name string // "voicegw.yaml:3", "VOICEGW_LISTEN", "--listen"
}

// rank orders sources: the larger one wins.
type rank uint8

const (
	fromFile rank = iota + 1
	fromEnvironment
	fromFlag
)

// envPrefix is what the environment's spelling of a key begins with.
const envPrefix = "VOICEGW_"

func (s *setting) env() string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(s.key, ".", "_"))
}

func (s *setting) flag() string { return strings.NewReplacer(".", "-", "_", "-").Replace(s.key) }

// textSetting is any text of at most max bytes on which ok, which may be nil, agrees.
func textSetting(key, def, want, doc string, field func(*options) *string, ok func(string) bool) setting {
	return setting{key: key, kind: "text", def: def, want: want, doc: doc, store: func(o *options, v value) bool {
		*field(o) = v.text
		return len(v.text) <= textBytesMax && (ok == nil || ok(v.text))
	}}
}

// textBytesMax is the longest value taken.
const textBytesMax = 64 << 10

// listSetting is a list in the file, and comma-separated elsewhere.
func listSetting(key, want, doc string, field func(*options) *[]string, ok func([]string) bool) setting {
	return setting{key: key, kind: "list", def: "none", want: want, doc: doc, store: func(o *options, v value) bool {
		list := v.list
		if list == nil && v.text != "" {
			list = strings.Split(v.text, ",")
		}
		for i := range list {
			list[i] = strings.TrimSpace(list[i])
		}
		*field(o) = list
		return ok(list)
	}}
}

// choiceSetting is one of a few words.
func choiceSetting(key, def, doc string, words []string, store func(*options, int)) setting {
	return setting{key: key, kind: "text", def: def, want: orList(words), doc: doc, store: func(o *options, v value) bool {
		i := slices.Index(words, v.text)
		if i >= 0 {
			store(o, i)
		}
		return i >= 0
	}}
}

func orList(words []string) string {
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// boolSetting is yes or no.
func boolSetting(key, def, doc string, store func(*options, bool)) setting {
	take := func(o *options, v value) bool {
		b, err := strconv.ParseBool(strings.ToLower(v.text))
		if err == nil {
			store(o, b)
		}
		return err == nil
	}
	return setting{key: key, kind: "bool", def: def, want: "true or false", doc: doc, store: take}
}

// numberSetting is a whole number from lo to hi.
func numberSetting(key string, def, lo, hi int, doc string, field func(*options) *int) setting {
	want := fmt.Sprintf("a whole number from %d to %d", lo, hi)
	return setting{key: key, kind: "number", def: strconv.Itoa(def), want: want, doc: doc,
		store: func(o *options, v value) bool {
			n, err := strconv.Atoi(v.text)
			*field(o) = n
			return err == nil && n >= lo && n <= hi
		}}
}

// scoreSetting is a score of the detector, more than 0.
func scoreSetting(key, def, doc string, field func(*options) *float64) setting {
	const most = 100
	want := fmt.Sprintf("a number over 0, at most %d", most)
	return setting{key: key, kind: "number", def: def, want: want, doc: doc, store: func(o *options, v value) bool {
		f, err := strconv.ParseFloat(v.text, 64)
		*field(o) = f
		return err == nil && f > 0 && f <= most
	}}
}

// timeSetting is a length of time from lo to hi.
func timeSetting(key string, def, lo, hi time.Duration, doc string, field func(*options) *time.Duration) setting {
	like := def
	if like == 0 {
		like = min(hi, 5*time.Second)
	}
	want := fmt.Sprintf("a length of time from %s to %s, such as %s", short(lo), short(hi), short(like))
	return setting{key: key, kind: "time", def: short(def), want: want, doc: doc, store: func(o *options, v value) bool {
		d, err := time.ParseDuration(v.text)
		*field(o) = d
		return err == nil && d >= lo && d <= hi
	}}
}

// framesSetting is a length of time in whole frames, kept as their count.
func framesSetting(key string, def, lo, hi int, doc string, field func(*options) *int) setting {
	length := func(frames int) time.Duration { return time.Duration(frames) * audio.FrameDuration }
	want := fmt.Sprintf("a length of time from %s to %s in whole frames of 20ms, such as %s", short(length(lo)),
		short(length(hi)), short(length(def)))
	return setting{key: key, kind: "time", def: short(length(def)), want: want, doc: doc,
		store: func(o *options, v value) bool {
			d, err := time.ParseDuration(v.text)
			*field(o) = int(d / audio.FrameDuration)
			return err == nil && d%audio.FrameDuration == 0 && d >= length(lo) && d <= length(hi)
		}}
}

// short is a length of time without zeros at its end: 5m, not 5m0s.
func short(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

package settings

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/transport"
)

// Row is one setting. Its key, such as timing.frame_gap, gives its place in the YAML file; Env and
// Flag are its other two names. The zero value is of no use; Rows returns them all.
type Row struct {
	Key     string   // section and name
	Kind    Kind     // which values there are
	Default string   // for people: "300ms", "none", "the model's"
	Min     string   // of numbers and times, written as their values are; else ""
	Max     string   // the same; of a text its bytes, of a list its items
	Words   []string // the values of a Word or Bool, and the items of a List that takes only some
	Want    string   // which values are valid, for people
	Doc     string   // what it is for: one sentence without its full stop
	Path    PathKind // whether the value of a Text is a path
	Reloads bool     // a running gateway takes another value, for calls that begin afterwards

	literal  bool              // Default is a value
	oldKey   string            // the key of earlier versions, refused with a message that names this one
	oldWords map[string]string // values of earlier versions, and what they are now
	idle     func() bool       // whether other settings leave this one without effect
	because  string            // why
	mapped   bool              // in the file it may be a map of texts
	numeric  bool              // a Text that is a number
	hidden   bool              // no message shows its value, which may hold a password
	zero     bool              // 0 is valid besides what Min and Max say
	store    func(value) bool  // stores a value; false: it is not valid
}

// Kind says which values a setting takes.
type Kind string

// The kinds of settings.
const (
	Text   Kind = "text"
	List   Kind = "list" // of texts: a sequence in the file, separated by commas elsewhere
	Word   Kind = "word" // one of a few
	Bool   Kind = "bool"
	Number Kind = "number" // whole
	Score  Kind = "score"  // a number with decimals
	Time   Kind = "time"
)

const (
	textBytesMax = 64 << 10
	itemsMax     = 1000
)

// value is what somebody gave for a setting.
type value struct {
	text  string
	list  []string          // of a list in the file; text is its items, comma-separated
	texts map[string]string // of a map of texts in the file
	shape string            // what the file has in place of a value: "a list"
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

// envPrefix is what the environment's name of a setting begins with.
const envPrefix = "VOICEGW_"

// Env returns the row's environment variable: VOICEGW_TIMING_FRAME_GAP.
func (r *Row) Env() string { return envOf(r.Key) }

// Flag returns the row's flag without its hyphens: timing-frame-gap.
func (r *Row) Flag() string { return flagOf(r.Key) }

func envOf(key string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
}

func flagOf(key string) string { return strings.NewReplacer(".", "-", "_", "-").Replace(key) }

// Check reports whether the text is valid for the row by itself, as a flag or a variable has it.
func (r *Row) Check(text string) bool {
	own := newSettings()
	i := slices.IndexFunc(own.rows, func(o Row) bool { return o.Key == r.Key })
	return i >= 0 && own.rows[i].store(value{text: text})
}

// renamed says which key the row had in earlier versions.
func (r Row) renamed(old string) Row {
	r.oldKey = old
	return r
}

// oldValues says what the row's values were in earlier versions, and are now.
func (r Row) oldValues(words map[string]string) Row {
	r.oldWords = words
	return r
}

// onlyIf says that the row has no effect unless something else is set, and why.
func (r Row) onlyIf(set func() bool, because string) Row {
	r.idle, r.because = func() bool { return !set() }, because
	return r
}

// orZero also takes 0, and nothing between that and the least.
func (r Row) orZero(zero string) Row {
	store := r.store
	r.zero, r.Want = true, zero+", or "+r.Want
	r.store = func(v value) bool { return store(v) || v.text == zero }
	return r
}

// reloading says that a running gateway takes another value.
func (r Row) reloading() Row {
	r.Reloads = true
	return r
}

// textRow is any text of at most textBytesMax that ok, which may be nil, accepts.
func textRow(key string, to *string, def, want, doc string, ok func(string) bool) Row {
	return Row{Key: key, Kind: Text, Default: def, Max: strconv.Itoa(textBytesMax), Want: want, Doc: doc,
		store: func(v value) bool {
			*to = v.text
			return len(v.text) <= textBytesMax && (ok == nil || ok(v.text))
		}}
}

// literally says that the default is a value, not a description of one.
func (r Row) literally() Row {
	r.literal = true
	return r
}

// hide says that no message may show the value.
func (r Row) hide() Row {
	r.hidden = true
	return r
}

// listRow is a list of at most itemsMax texts that ok accepts.
func listRow(key string, to *[]string, want, doc string, ok func([]string) bool) Row {
	return Row{Key: key, Kind: List, Default: "none", Max: strconv.Itoa(itemsMax), Want: want, Doc: doc,
		store: func(v value) bool {
			list := v.list
			if list == nil && v.text != "" {
				list = strings.Split(v.text, ",")
			}
			for i := range list {
				list[i] = strings.TrimSpace(list[i])
			}
			*to = list
			return len(list) <= itemsMax && ok(list)
		}}
}

// namesRow is "all", "none" or a list of names.
func namesRow(key string, to *voicegw.Names, def, doc string) Row {
	var list []string
	r := listRow(key, &list, `"all", "none", or a list of names of at most 128 bytes`, doc, func(l []string) bool {
		*to = voicegw.Names{}
		if len(l) == 1 && (l[0] == "all" || l[0] == "none") {
			to.All = l[0] == "all"
			return true
		}
		to.List = l
		return !slices.ContainsFunc(l, func(name string) bool {
			return name == "" || name == "all" || name == "none" || len(name) > transport.NameLenMax
		})
	})
	r.Default, r.literal = def, def != "none"
	return r
}

// wordRow is one of a few words; set takes its index.
func wordRow(key, def, doc string, words []string, set func(int)) Row {
	return Row{Key: key, Kind: Word, Default: def, Words: words, Want: orList(words), Doc: doc,
		literal: slices.Contains(words, def), store: func(v value) bool {
			i := slices.Index(words, v.text)
			if i >= 0 {
				set(i)
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

// boolRow is true or false; set takes it.
func boolRow(key, def, doc string, set func(bool)) Row {
	return Row{Key: key, Kind: Bool, Default: def, Words: []string{"false", "true"}, Want: "true or false",
		Doc: doc, literal: def == "false", store: func(v value) bool {
			b, err := strconv.ParseBool(strings.ToLower(v.text))
			if err == nil {
				set(b)
			}
			return err == nil
		}}
}

// onRow is a boolean that is false by default.
func onRow(key string, to *bool, doc string) Row {
	return boolRow(key, "false", doc, func(b bool) { *to = b })
}

// offRow is a boolean that is true by default.
func offRow(key string, to *bool, doc string) Row {
	r := boolRow(key, "true", doc, func(b bool) { *to = b })
	r.literal = true
	return r
}

// numberRow is a whole number from lo to hi.
func numberRow[T int | int64](key string, to *T, def, lo, hi T, doc string) Row {
	return Row{Key: key, Kind: Number, Default: fmt.Sprint(def), Min: fmt.Sprint(lo), Max: fmt.Sprint(hi), Doc: doc,
		Want: fmt.Sprintf("a whole number from %d to %d", lo, hi), literal: true,
		store: func(v value) bool {
			n, err := strconv.ParseInt(v.text, 10, strconv.IntSize)
			*to = T(n)
			return err == nil && *to >= lo && *to <= hi
		}}
}

// scoreRow is a score of the speech detector, more than 0.
func scoreRow(key string, to *float64, def, doc string) Row {
	const most = 100
	return Row{Key: key, Kind: Score, Default: def, Min: "0", Max: strconv.Itoa(most), Doc: doc, literal: true,
		Want: fmt.Sprintf("a number over 0, at most %d", most), store: func(v value) bool {
			f, err := strconv.ParseFloat(v.text, 64)
			*to = f
			return err == nil && f > 0 && f <= most
		}}
}

// timeRow is a length of time from lo to hi.
func timeRow(key string, to *time.Duration, def, lo, hi time.Duration, doc string) Row {
	like := def
	if like == 0 {
		like = min(hi, 5*time.Second)
	}
	return Row{Key: key, Kind: Time, Default: short(def), Min: short(lo), Max: short(hi), Doc: doc, literal: true,
		Want: fmt.Sprintf("a length of time from %s to %s, such as %s", short(lo), short(hi), short(like)),
		store: func(v value) bool {
			d, err := time.ParseDuration(v.text)
			*to = d
			return err == nil && (d >= lo && d <= hi || d == def)
		}}
}

// framesRow is a length of time in whole frames, stored as their count.
func framesRow(key string, to *int, def, lo, hi int, doc string) Row {
	length := func(frames int) time.Duration { return time.Duration(frames) * audio.FrameDuration }
	var d time.Duration
	r := timeRow(key, &d, length(def), length(lo), length(hi), doc)
	r.Want = strings.Replace(r.Want, ", such", " in whole frames of 20ms, such", 1)
	inner := r.store
	r.store = func(v value) bool {
		ok := inner(v)
		*to = int(d / audio.FrameDuration)
		return ok && d%audio.FrameDuration == 0
	}
	return r
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

package main

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/voicenets"
)

// spoken are the prompts that need no setting, in English.
//
//go:embed prompts/*.wav
var spoken embed.FS

// sessionOptions are what a call is made of.
type sessionOptions struct {
	nudge     string
	toolsFile string
	prompts   [promptCount]string // by prompt: a file, "default" or "none"; "": as the setting's default
}

const (
	promptCount   = int(voicenets.Goodbye) + 1
	promptDefault = "default"
	promptNone    = "none"
	toolsFileMax  = 1 << 20 // bytes
	promptFileMax = 8 << 20
)

func sessionSettings() []setting {
	list := []setting{
		boolSetting("session.consent", "false", "do not listen to a caller who has not agreed to it",
			func(o *options, b bool) { o.timing.Consent = b }),
		boolSetting("session.adaptive", "false", "wait longer for the end of a turn with callers who pause while they speak",
			func(o *options, b bool) { o.timing.Adaptive = b }),
		boolSetting("session.greeting_firm", "false", "the greeting cannot be interrupted",
			func(o *options, b bool) { o.timing.GreetingFirm = b }),
		textSetting("session.nudge", "in English", "words for the model",
			"what a model that gives no reply is told, once", func(o *options) *string { return &o.session.nudge }, nil),
		textSetting("session.tools_file", "none", "the path of a JSON file: a list of {name, description, parameters}",
			"functions that the model may call and the caller's side answers",
			func(o *options) *string { return &o.session.toolsFile }, nil),
	}
	for i, name := range voicenets.Prompt(0).KeyNames() {
		list = append(list, promptSetting(voicenets.Prompt(i), name))
	}
	return append(list, silenceSettings()...)
}

// promptSetting is what is said as a prompt. Not every prompt has a recording of ours.
func promptSetting(p voicenets.Prompt, name string) setting {
	want := `the path of a WAV file, or "none"`
	_, err := spoken.Open(spokenFile(name))
	ours := err == nil
	if ours {
		want = `the path of a WAV file, "default" (English) or "none"`
	}
	return textSetting("prompts."+name, promptOtherwise(p), want, promptDoc(p),
		func(o *options) *string { return &o.session.prompts[p] },
		func(text string) bool { return ours || text != promptDefault })
}

// spokenFile is the name of a prompt's recording in spoken.
func spokenFile(prompt string) string { return "prompts/" + prompt + ".wav" }

// promptOtherwise is what a prompt is by default.
func promptOtherwise(p voicenets.Prompt) string {
	if p == voicenets.Notify || p == voicenets.Filler {
		return promptNone
	}
	return promptDefault
}

func promptDoc(p voicenets.Prompt) string {
	switch p {
	case voicenets.AskConsent:
		return "asks a caller to agree to be listened to; cannot be interrupted"
	case voicenets.Notify:
		return "a notice at the beginning, which cannot be interrupted"
	case voicenets.Filler:
		return "is said while a tool takes its time"
	case voicenets.Fallback:
		return "is said when the model has no reply"
	case voicenets.Reprompt:
		return "is said to a caller who is silent"
	default:
		return "is said before the gateway ends a call"
	}
}

// silenceSettings are the times of the silent, the slow and the broken.
func silenceSettings() []setting {
	at := func(key string, def, lo, hi time.Duration, doc string, field func(*voicenets.Config) *time.Duration) setting {
		return timeSetting("timing."+key, def, lo, hi, doc, func(o *options) *time.Duration { return field(&o.timing) })
	}
	const s = time.Second
	list := []setting{
		at("nudge_after", 4*s, s/2, 60*s, "a model that gives no reply is asked again",
			func(c *voicenets.Config) *time.Duration { return &c.NudgeAfter }),
		at("renew_after", 4*s, s/2, 60*s, "... then it gets a new connection, with the turn once more",
			func(c *voicenets.Config) *time.Duration { return &c.RenewAfter }),
		at("fallback_after", 4*s, s/2, 60*s, "... then the fallback is said in its place",
			func(c *voicenets.Config) *time.Duration { return &c.FallbackAfter }),
		at("reply_deadline", 30*s, 2*s, 300*s, "the longest a turn of the caller's waits for any of that",
			func(c *voicenets.Config) *time.Duration { return &c.ReplyDeadline }),
		orNever(at("reprompt_after", 0, s, time.Hour, "a caller who is silent for so long is asked who is there; 0s is never",
			func(c *voicenets.Config) *time.Duration { return &c.RepromptAfter })),
		at("goodbye_after", 15*s, s, time.Hour, "... and after so much more the call ends",
			func(c *voicenets.Config) *time.Duration { return &c.GoodbyeAfter }),
		at("consent_wait", 60*s, s, time.Hour, "how long a caller may think about consent",
			func(c *voicenets.Config) *time.Duration { return &c.ConsentWait }),
		at("tool_timeout", 15*s, s/10, 600*s, "the longest a tool may take",
			func(c *voicenets.Config) *time.Duration { return &c.ToolTimeout }),
		at("filler_after", 3*s/2, s/10, 60*s, "when the filler is said while a tool works",
			func(c *voicenets.Config) *time.Duration { return &c.FillerAfter }),
		at("rotate_after", 540*s, 60*s, 24*time.Hour, "how old a connection to the model becomes before it is "+
			"replaced at a quiet moment",
			func(c *voicenets.Config) *time.Duration { return &c.RotateAfter }),
		at("rotate_soon", 2*s, s/20, 60*s, "... and how long it then waits for a reply that the model has not begun, or for "+
			"the end that the model has announced",
			func(c *voicenets.Config) *time.Duration { return &c.RotateSoon }),
		at("rotate_within", 45*s, s, 300*s, "... and the longest it waits for a quiet moment",
			func(c *voicenets.Config) *time.Duration { return &c.RotateWithin }),
		at("stable", 10*s, s, 600*s, "how long a connection to the model must last for timing.backoff_* to begin anew",
			func(c *voicenets.Config) *time.Duration { return &c.Stable }),
		at("dial_every", s, s/10, 60*s, "how long until another dial of the model may begin, after four at once",
			func(c *voicenets.Config) *time.Duration { return &c.DialEvery }),
		at("drain_within", 60*s, s, 24*time.Hour, "how long a call may go on, until a quiet moment, when it is asked to end",
			func(c *voicenets.Config) *time.Duration { return &c.DrainWithin }),
		at("linger_lasts", 60*s, s, time.Hour, "how long a caller who was cut off is given more time (session.adaptive)",
			func(c *voicenets.Config) *time.Duration { return &c.LingerLasts }),
		at("digit_gap", 3*s, s/5, 60*s, "a pause that ends an entry of digits",
			func(c *voicenets.Config) *time.Duration { return &c.DigitGap }),
		at("farewell", 10*s, s, 60*s, "the longest the last words of a call may take",
			func(c *voicenets.Config) *time.Duration { return &c.Farewell }),
	}
	defaults, err := voicenets.Config{}.Filled()
	if err != nil {
		panic(err) // the zero value works
	}
	for i, name := range []string{"first", "second", "third"} {
		list = append(list,
			at("backoff_"+name, defaults.Backoff[i], s/100, 60*s, "the wait before the "+name+" dial in a row that follows a "+
				"broken connection", func(c *voicenets.Config) *time.Duration { return &c.Backoff[i] }))
	}
	for i, name := range []string{"linger", "linger_once", "linger_again"} {
		who := []string{"", " of a caller who was cut off once", " of a caller who was cut off again"}[i]
		least := min(defaults.Linger[i], s/50) // none is the default of the first alone
		list = append(list, at(name, defaults.Linger[i], least, 5*s, "how long a turn"+who+" may go on after the end of "+
			"speech (session.adaptive)", func(c *voicenets.Config) *time.Duration { return &c.Linger[i] }))
	}
	return list
}

// orNever lets a setting be 0s too, and nothing between that and its least.
func orNever(s setting) setting {
	store := s.store
	s.want = "0s, or " + s.want
	s.store = func(o *options, v value) bool {
		ok := store(o, v)
		d, err := time.ParseDuration(v.text)
		return ok || err == nil && d == 0
	}
	return s
}

// readSession reads the files that the session's settings name.
func (o *options) readSession(c *voicegw.Config) error {
	c.Nudge = o.session.nudge
	tools, err := readTools(o.session.toolsFile)
	if err != nil {
		return err
	}
	c.Tools = tools
	c.Prompts = map[voicenets.Prompt]voicegw.Prompt{}
	for i, name := range voicenets.Prompt(0).KeyNames() {
		p := voicenets.Prompt(i)
		from := o.session.prompts[i]
		if from == "" {
			from = promptOtherwise(p)
		}
		prompt, err := readPrompt(name, from)
		if err != nil {
			return err
		}
		if prompt != nil {
			c.Prompts[p] = *prompt
		}
	}
	return nil
}

// readPrompt reads a prompt, nil for none.
func readPrompt(name, from string) (*voicegw.Prompt, error) {
	var data []byte
	var err error
	switch from {
	case promptNone:
		return nil, nil
	case promptDefault:
		if data, err = spoken.ReadFile(spokenFile(name)); err != nil {
			return nil, fmt.Errorf("prompts.%s: %w", name, err)
		}
	default:
		if data, err = readBounded(from, promptFileMax); err != nil {
			return nil, fmt.Errorf("prompts.%s: %w", name, err)
		}
	}
	pcm, err := audio.ReadWAV(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("prompts.%s is %q: %w", name, from, err)
	}
	return &voicegw.Prompt{PCM: pcm.Samples, RateHz: pcm.RateHz}, nil
}

// readBounded reads a file that should not be large.
func readBounded(path string, most int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > most {
		return nil, fmt.Errorf("%s has %d bytes; at most %d are possible", path, info.Size(), most)
	}
	return os.ReadFile(path)
}

// readTools reads declarations of functions.
func readTools(path string) ([]voicegw.Tool, error) {
	if path == "" {
		return nil, nil
	}
	data, err := readBounded(path, toolsFileMax)
	if err != nil {
		return nil, fmt.Errorf("session.tools_file: %w", err)
	}
	var list []struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&list); err != nil {
		return nil, fmt.Errorf("session.tools_file %s: %w", path, err)
	}
	var tools []voicegw.Tool
	for _, t := range list {
		tools = append(tools, voicegw.Tool{Name: t.Name, Description: t.Description, Parameters: t.Parameters})
	}
	return slices.Clip(tools), nil
}

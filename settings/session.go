package settings

import (
	"bytes"
	"embed"
	"fmt"
	"os"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/voicenets"
)

// recordings are the prompts that ship with the program, in English.
//
//go:embed prompts/*.wav
var recordings embed.FS

const (
	promptCount   = int(voicenets.Goodbye) + 1
	promptDefault = "default"
	promptNone    = "none"
	toolsFileMax  = 1 << 20 // bytes
	promptFileMax = 8 << 20
)

func (s *Settings) sessionRows() []Row {
	g, n := &s.gateway, &s.gateway.Net
	rows := []Row{
		onRow("session.consent", &n.Consent, "keep the input gate closed until the caller has agreed"),
		onRow("session.adaptive", &n.Adaptive, "wait longer for the end of a turn with callers who pause while they speak"),
		onRow("session.greeting_firm", &n.GreetingFirm, "callers cannot interrupt the greeting"),
		textRow("session.nudge", &g.Nudge, "in English", "a text",
			"the text sent once to a model that gives no reply", nil),
		fileRow("session.tools_file", &s.ToolsFile, "none",
			"a JSON or YAML file: a list of {name, description, parameters, agent, url, timeout, "+
				"secret_file, scheduling}",
			"functions that the model may call; an agent or an HTTP server answers (see docs/tools.md), or else the "+
				"caller's side").reloading(),
		boolRow("session.client_modes", "true", "a client may choose what detects speech, and half-duplex; if not, "+
			"serve proves one kind of session instead of four, and starts faster",
			func(b bool) { g.OneMode = !b }).literally(),
		offRow("session.client_instructions", &g.Session.Instructions,
			"a client may give the model instructions of its own"),
		namesRow("session.client_voices", &g.Session.Voices, "all", "the voices that a client may choose"),
		namesRow("session.client_models", &g.Session.Models, "none",
			"the models that a client may choose; a call with another one gets the gateway's"),
		namesRow("session.client_tools", &g.Session.Tools, "all",
			"the functions that a client may offer the model, and answers itself"),
		offRow("session.client_generation", &g.Session.Generation,
			"a client may choose the temperature and the longest reply"),
		offRow("session.client_activity", &g.Session.Activity,
			"a client may choose how the gateway's detector finds the beginning and the end of speech"),
	}
	for i, name := range voicenets.Prompt(0).KeyNames() {
		rows = append(rows, s.promptRow(voicenets.Prompt(i), name))
	}
	return rows
}

// promptRow is a prompt: a file, "default", if we have a recording of it, or "none".
func (s *Settings) promptRow(p voicenets.Prompt, name string) Row {
	want := `the path of a WAV file, or "none"`
	_, err := recordings.Open(recordingOf(name))
	recorded := err == nil
	if recorded {
		want = `the path of a WAV file, "default" (English) or "none"`
	}
	def := promptDefault
	if p == voicenets.Notify || p == voicenets.Filler {
		def = promptNone
	}
	r := textRow("prompts."+name, &s.prompts[p], def, want, promptDoc(p),
		func(text string) bool {
			if text == "" {
				s.prompts[p] = def
			}
			return recorded || text != promptDefault
		}).literally()
	r.Path = FilePath
	switch p {
	case voicenets.Filler:
		return s.needsTools(r)
	case voicenets.AskConsent:
		return s.needsConsent(r)
	case voicenets.Reprompt:
		return s.needsReprompt(r)
	}
	return r
}

// recordingOf is the name of a prompt's recording.
func recordingOf(prompt string) string { return "prompts/" + prompt + ".wav" }

func promptDoc(p voicenets.Prompt) string {
	switch p {
	case voicenets.AskConsent:
		return "asks the caller for consent; callers cannot interrupt it"
	case voicenets.Notify:
		return "a notice at the beginning; callers cannot interrupt it"
	case voicenets.Filler:
		return "played when a tool takes longer than timing.filler_after"
	case voicenets.Fallback:
		return "played when the model has no reply"
	case voicenets.Reprompt:
		return "played to a silent caller"
	default:
		return "played before the gateway ends a call"
	}
}

// tools reports whether calls may have tools.
func (s *Settings) tools() bool {
	return s.ToolsFile != "" || s.HandOff.Tool || s.gateway.Session.Tools.Any()
}

func (s *Settings) needsTools(r Row) Row {
	return r.onlyIf(s.tools, "session.tools_file names no tools, session.client_tools is none, and handoff.tool is false")
}

func (s *Settings) needsConsent(r Row) Row {
	return r.onlyIf(func() bool { return s.gateway.Net.Consent }, "session.consent is false")
}

func (s *Settings) needsReprompt(r Row) Row {
	return r.onlyIf(func() bool { return s.gateway.Net.RepromptAfter > 0 }, "timing.reprompt_after is 0")
}

func (s *Settings) needsAdaptive(r Row) Row {
	return r.onlyIf(func() bool { return s.gateway.Net.Adaptive }, "session.adaptive is false")
}

// timingRows are the times of the net, and the audio that may wait.
func (s *Settings) timingRows() []Row {
	const ms, sec = time.Millisecond, time.Second
	n := &s.gateway.Net
	rows := []Row{
		framesRow("timing.budget", &n.BudgetFrames, 20, 1, 100, "the most audio sent to a peer and not yet acknowledged"),
		framesRow("timing.reply_max", &n.ReplyFramesMax, 15_000, 1, 60_000,
			"the most audio of a reply that may wait in the gateway"),
		framesRow("timing.pre_roll", &n.PreRollFrames, 15, 1, 25,
			"how much caller audio from before the start of speech is kept"),
		timeRow("timing.confirm_window", &n.ConfirmWindow, 600*ms, 100*ms, 900*ms,
			"a paused reply resumes if speech is not confirmed within this time"),
		timeRow("timing.frame_gap", &n.FrameGap, 300*ms, 150*ms, 2*sec, "speech ends after this long without caller audio"),
		timeRow("timing.late_audio", &n.LateAudio, 300*ms, 50*ms, 5*sec,
			"after the caller's turn, audio of an interrupted reply is dropped for this long"),
		timeRow("timing.ack_timeout", &n.AckTimeout, 2*sec, 500*ms, 30*sec,
			"audio without an acknowledgement counts as played this long after its end"),
		timeRow("timing.turn_end_timeout", &n.TurnEndTimeout, 3*sec, 500*ms, time.Minute,
			"how long the gateway waits for the end of an earlier model turn").renamed("timing.owed_timeout"),
		timeRow("timing.silent_turn", &n.SilentTurn, 5*sec, sec, time.Minute,
			"a reply ends after this long without audio or an end from the model"),
		timeRow("timing.call_max", &n.MaxDuration, 30*time.Minute, sec, 24*time.Hour, "the longest call"),
		timeRow("timing.nudge_after", &n.NudgeAfter, 4*sec, 500*ms, time.Minute,
			"a model that gives no reply gets session.nudge after this long"),
		timeRow("timing.renew_after", &n.RenewAfter, 4*sec, 500*ms, time.Minute,
			"if there is still no reply this long after session.nudge, the turn is sent again on a new connection"),
		timeRow("timing.fallback_after", &n.FallbackAfter, 4*sec, 500*ms, time.Minute,
			"if there is still no reply this long after timing.renew_after, prompts.fallback is played"),
		timeRow("timing.reply_deadline", &n.ReplyDeadline, 30*sec, 2*sec, 5*time.Minute,
			"this long after the caller's turn, prompts.fallback is played as soon as nobody speaks and no hold is on"),
		timeRow("timing.reprompt_after", &n.RepromptAfter, 0, sec, time.Hour,
			"prompts.reprompt is played to a caller who is silent for this long; 0s is never").orZero("0s"),
		s.needsReprompt(timeRow("timing.goodbye_after", &n.GoodbyeAfter, 15*sec, sec, time.Hour,
			"the call ends if the caller stays silent for this long after prompts.reprompt")),
		s.needsConsent(timeRow("timing.consent_wait", &n.ConsentWait, time.Minute, sec, time.Hour,
			"the call ends if the caller does not agree within this time")),
		s.needsTools(timeRow("timing.tool_timeout", &n.ToolTimeout, 15*sec, 100*ms, 10*time.Minute,
			"how long a tool may take")),
		s.needsTools(timeRow("timing.filler_after", &n.FillerAfter, 1500*ms, 100*ms, time.Minute,
			"prompts.filler is played when a tool takes this long")),
		timeRow("timing.rotate_after", &n.RotateAfter, 9*time.Minute, time.Minute, 24*time.Hour,
			"the age at which a connection to the model is replaced at a quiet moment"),
		timeRow("timing.rotate_soon", &n.RotateSoon, 2*sec, 50*ms, time.Minute,
			"how long a connection that is due is kept for a reply that has not begun, or when its announced end is near"),
		timeRow("timing.rotate_within", &n.RotateWithin, 45*sec, sec, 5*time.Minute,
			"after timing.rotate_after, how long to wait for a quiet moment at most"),
		timeRow("timing.stable", &n.Stable, 10*sec, sec, 10*time.Minute,
			"timing.backoff_* begins anew when a connection to the model has lasted this long"),
		timeRow("timing.dial_every", &n.DialEvery, sec, 100*ms, time.Minute,
			"the least time between two dials of the model, after four at once"),
		timeRow("timing.drain_within", &n.DrainWithin, time.Minute, sec, 24*time.Hour,
			"how long a call may wait for a quiet moment when the gateway asks it to end"),
		timeRow("timing.digit_gap", &n.DigitGap, 3*sec, 200*ms, time.Minute,
			"a pause of this length ends an entry of digits"),
		timeRow("timing.farewell", &n.Farewell, 10*sec, sec, time.Minute, "how long the farewell of a call may take"),
	}
	return append(rows, s.repeatedRows()...)
}

// repeatedRows are the times that differ from the first occasion to the third.
func (s *Settings) repeatedRows() []Row {
	const ms, sec = time.Millisecond, time.Second
	n := &s.gateway.Net
	backoff := func(i int, name string, def time.Duration) Row {
		return timeRow("timing.backoff_"+name, &n.Backoff[i], def, 10*ms, time.Minute,
			"the wait before the "+name+" of the dials that follow a broken connection")
	}
	linger := func(i int, key, who string, def, least time.Duration) Row {
		return s.needsAdaptive(timeRow("timing."+key, &n.Linger[i], def, least, 5*sec,
			"how long a turn"+who+" may go on after the end of speech (session.adaptive)"))
	}
	return []Row{
		backoff(0, "first", 500*ms), backoff(1, "second", sec), backoff(2, "third", 2*sec),
		linger(0, "linger", "", 0, 0), // no time is the default of the first alone
		linger(1, "linger_once", " of a caller who was cut off once", 400*ms, 20*ms),
		linger(2, "linger_again", " of a caller who was cut off again", sec, 20*ms),
		s.needsAdaptive(timeRow("timing.linger_lasts", &n.LingerLasts, time.Minute, sec, time.Hour,
			"how long a caller who was cut off gets more time (session.adaptive)")),
	}
}

// readPrompts reads the prompts: files of the user and recordings of ours.
func (s *Settings) readPrompts() (map[voicenets.Prompt]voicegw.Prompt, error) {
	all := map[voicenets.Prompt]voicegw.Prompt{}
	for i, name := range voicenets.Prompt(0).KeyNames() {
		prompt, err := readPrompt(name, s.prompts[i])
		if err != nil {
			return nil, fmt.Errorf("prompts.%s %s: %w", name, s.prompts[i], err)
		}
		if prompt != nil {
			all[voicenets.Prompt(i)] = *prompt
		}
	}
	return all, nil
}

// readPrompt reads a prompt, nil for none.
func readPrompt(name, from string) (*voicegw.Prompt, error) {
	var data []byte
	var err error
	switch from {
	case promptNone:
		return nil, nil
	case promptDefault:
		data, err = recordings.ReadFile(recordingOf(name))
	default:
		data, err = readBounded(from, promptFileMax)
	}
	if err != nil {
		return nil, err
	}
	pcm, err := audio.ReadWAV(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return &voicegw.Prompt{PCM: pcm.Samples, RateHz: pcm.RateHz}, nil
}

// readBounded reads a file of at most so many bytes.
func readBounded(path string, most int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err == nil && info.Size() > most {
		err = fmt.Errorf("%s has %d bytes; at most %d are possible", path, info.Size(), most)
	}
	if err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

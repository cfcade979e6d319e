package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/event"
	"github.com/voicegw/voicegw/transport"
)

// storyEvent is one sentence of the story of a call.
type storyEvent struct {
	At   time.Duration `json:"at_ns"` // since the call began
	Text string        `json:"text"`
	By   string        `json:"by,omitempty"` // the transition
}

// storyWords says what transitions mean for people. A name that ends with _ stands for all that begin
// with it.
func storyWords() map[string]string {
	return map[string]string{
		"dial_first":                "the gateway dials the model",
		"dial_resuming":             "it dials again, to resume the conversation",
		"dial_afresh":               "it dials again, for a new conversation",
		"connect":                   "the model is connected",
		"fail_first_dial":           "the dial fails",
		"fail_dial":                 "the dial fails",
		"lose_link":                 "the connection to the model is lost",
		"lose_link_for_good":        "the connection to the model is lost for good",
		"replace_link":              "the connection is replaced",
		"give_up_model":             "the gateway gives up on the model",
		"note_go_away":              "the model announces that it will disconnect",
		"open_speech":               "the caller speaks",
		"close_speech":              "the caller is silent",
		"end_speech_without_frames": "no more audio comes from the caller",
		"end_speech_input_closed":   "the input gate closes while the caller speaks",
		"start_turn":                "the caller's turn begins",
		"end_turn":                  "the caller's turn ends; the model is to answer",
		"begin_reply":               "the reply begins",
		"begin_unrequested_reply":   "the model begins a reply that nobody asked for",
		"end_reply":                 "the reply was played to its end",
		"end_cut_reply":             "the reply ends where the connection was lost",
		"pause_reply":               "the reply pauses: the caller may be interrupting it",
		"resume_on_stop":            "the reply goes on: it was no interruption",
		"resume_unconfirmed":        "the reply goes on: nothing confirmed an interruption",
		"resume_on_hint":            "the reply goes on: the recognizer says that it was no interruption",
		"barge_in":                  "the caller interrupts the reply",
		"barge_in_at_end":           "the caller interrupted the reply",
		"barge_in_late":             "the caller interrupts the reply, noticed late",
		"barge_in_late_at_end":      "the caller interrupted the reply, noticed late",
		"interrupt":                 "the model says that the caller interrupts",
		"presume_played":            "no acknowledgement came: the gateway takes everything for played",
		"nudge":                     "the model does not answer: the gateway asks again",
		"renew_link":                "still no answer: a new connection",
		"play_fallback":             "no answer: the gateway plays the fallback",
		"reach_deadline":            "the model has not answered by the deadline",
		"accept_empty_turn":         "the model's turn is empty",
		"notice_silence":            "the caller has been silent for long",
		"reprompt":                  "the gateway reprompts the caller",
		"give_up_on_caller":         "the gateway gives up on a silent caller",
		"ask_consent":               "the caller is asked for consent",
		"consent":                   "the caller consents",
		"withdraw_consent":          "the caller withdraws consent",
		"give_up_on_consent":        "no consent came",
		"hold":                      "the call is on hold",
		"unhold":                    "the hold ends",
		"protect":                   "protected input begins",
		"unprotect":                 "protected input ends",
		"mute":                      "the caller is muted",
		"unmute":                    "the caller is not muted any more",
		"park_reply":                "the reply waits for the end of the hold",
		"unpark_reply":              "the reply goes on after the hold",
		"take_text":                 "the caller types",
		"hand_off":                  "the call is transferred",
		"drain":                     "the gateway asks the call to end",
		"say_goodbye":               "the gateway says goodbye",
		"end_call":                  "the call ends",
		"begin_prompt_":             "a prompt is played",
		"finish_prompt":             "the prompt is over",
		"start_call_":               "the model calls a function",
		"answer_call_":              "the function has answered",
		"time_out_call_":            "the function takes too long",
		"cancel_call_":              "the model does not need the function any more",
		"lose_call_":                "nobody needs the function any more: the connection to the model is lost",
		"refuse_call":               "the model calls one function too many",
	}
}

// isToolCall reports whether a transition begins or ends a tool call.
func isToolCall(name string) bool {
	name = strings.TrimRight(name, "_0123456789")
	return slices.Contains([]string{"start_call", "answer_call", "answer_call_late", "time_out_call", "cancel_call",
		"lose_call", "refuse_call"}, name)
}

// named is a story in which tool calls have the names that the record has. Without a record, the
// archive says only that there were some.
func (c *recorded) named(story []storyEvent) []storyEvent {
	var calls []storyEvent
	if c.record == nil || c.archive == "" {
		return story
	}
	for _, t := range c.record.Turns {
		for _, tool := range t.Tools {
			began, took := time.Duration(tool.BeganMS)*time.Millisecond, time.Duration(tool.TookMS)*time.Millisecond
			calls = append(calls, storyEvent{At: began, Text: "the model calls " + tool.Name},
				storyEvent{At: began + took, Text: fmt.Sprintf("%s: %s after %v", tool.Name, tool.Result, took)})
		}
	}
	if len(calls) == 0 {
		return story
	}
	story = slices.DeleteFunc(story, func(e storyEvent) bool { return isToolCall(shortName(e.By)) })
	story = append(story, calls...)
	slices.SortStableFunc(story, func(a, b storyEvent) int { return cmp.Compare(a.At, b.At) })
	return story
}

// shortName returns the name of a transition without its part of the net, and without the mode that an
// archive writes behind it: "turns/start_turn (pending_speech[tentative])".
func shortName(name string) string {
	name, _, _ = strings.Cut(name, " (")
	return name[strings.LastIndexByte(name, '/')+1:]
}

// wordsOf returns what a transition means, "" if it is not part of the story.
func wordsOf(words map[string]string, name string) string {
	name = strings.TrimSuffix(shortName(name), "*")
	if text, ok := words[name]; ok {
		return text
	}
	for prefix, text := range words {
		if strings.HasSuffix(prefix, "_") && strings.HasPrefix(name, prefix) {
			return text
		}
	}
	return ""
}

// story tells the archive of a call. It needs no net, because an archive holds names. The story of a
// damaged archive goes as far as the archive does.
func (c *recorded) story() (list []storyEvent, err error) {
	if c.archive == "" {
		return nil, nil
	}
	file, err := os.Open(c.archive)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	r, err := event.NewReader(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.archive, err)
	}
	words := storyWords()
	frames, up, ended, last := 0, 0, false, time.Duration(0)
	note := func(at time.Duration, text, by string) {
		if frames > 0 {
			list = append(list, storyEvent{At: at,
				Text: fmt.Sprintf("(%.1f s of audio went to the caller)", frameSeconds(frames))})
		}
		if up > 0 {
			list = append(list, storyEvent{At: at,
				Text: fmt.Sprintf("(%.1f s of audio went to the model)", frameSeconds(up))})
		}
		frames, up = 0, 0
		list = append(list, storyEvent{At: at, Text: text, By: by})
	}
	for {
		e, err := r.Next()
		switch {
		case err == io.EOF && !ended:
			return list, fmt.Errorf("%s ends at %.3f s, before the call does: it was cut off, or the call still runs", c.archive,
				last.Seconds())
		case err == io.EOF:
			return list, nil
		case err != nil:
			return list, fmt.Errorf("%s: after %.3f s: %w", c.archive, last.Seconds(), err)
		}
		last = e.At
		ended = ended || e.Kind == petri.Ended || e.Kind == petri.Faulted
		name := r.Name()
		short := shortName(name)
		switch {
		case e.Kind == petri.Ended:
			note(e.At, "the call is over", "")
		case e.Kind == petri.Faulted:
			note(e.At, "the net of the call broke", "")
		case e.Kind != petri.Fired:
		case short == "send_frame" || short == "play_again":
			frames++
		case short == "send_frame_up":
			up++
		default:
			if text := wordsOf(words, name); text != "" {
				note(e.At, text, name)
			}
		}
	}
}

func frameSeconds(n int) float64 { return float64(n*transport.FrameMS) / 1000 }

// tellStory prints a story, with the silences in it.
func tellStory(w io.Writer, story []storyEvent) {
	for _, e := range story {
		fmt.Fprintf(w, "%9.3f  %s", e.At.Seconds(), e.Text)
		if e.By != "" {
			fmt.Fprintf(w, "  [%s]", e.By)
		}
		fmt.Fprintln(w)
	}
}

// tellRecord prints a record and its turns.
func tellRecord(w io.Writer, r *callRecord) {
	if r == nil {
		return
	}
	fmt.Fprintf(w, "%s began %s, took %s, ended: %s\n", r.Call, r.Began.UTC().Format(time.RFC3339),
		r.Duration.Round(time.Millisecond), r.Reason)
	for _, line := range [][2]string{{"endpoint", r.Endpoint}, {"carrier's call", r.CarrierCall}, {"from", r.From},
		{"to", r.To}, {"client", r.Client}, {"error", r.Error}} {
		if line[1] != "" {
			fmt.Fprintf(w, "  %s: %s\n", line[0], line[1])
		}
	}
	fmt.Fprintf(w, "  %d replies, %d interrupted, %d false interruptions, %d turns unanswered, %d connections lost\n",
		r.Replies, r.Interrupted, r.FalseInterruptions, r.Unanswered, r.LinksLost)
	if r.Model != "" {
		fmt.Fprintf(w, "  model %s: %d tokens read, %d written", r.Model, r.Tokens.Input, r.Tokens.Output)
		if r.CostDollars != nil {
			fmt.Fprintf(w, ", %.4f dollars", *r.CostDollars)
		}
		fmt.Fprintln(w)
	}
	for _, t := range r.Turns {
		fmt.Fprintf(w, "  %s: %q", t.Who, t.Text)
		switch {
		case t.Who == transport.WhoModel:
			fmt.Fprintf(w, " (%s, %.1f s heard, after %d ms)", t.End, float64(t.HeardMS)/1000, t.LatencyMS)
		case t.End != "":
			fmt.Fprintf(w, " (%s)", t.End)
		}
		fmt.Fprintln(w)
		for _, tool := range t.Tools {
			fmt.Fprintf(w, "    %s: %s after %d ms\n", tool.Name, tool.Result, tool.TookMS)
		}
	}
}

// archiveName is a name that a net can have, and a payload can not.
var archiveName = regexp.MustCompile(`^[A-Za-z0-9_/\[\]():.,*+ -]{0,200}$`)

// cleanArchive returns an archive with nothing but the fields that archives have, so that an archive
// that somebody changed carries nothing else into a bug report.
func cleanArchive(name string) ([]byte, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, recordLineMax)
	for i := 0; lines.Scan(); i++ {
		var v any
		if i == 0 {
			v = &event.Header{}
		} else {
			v = &archiveLine{}
		}
		if err := json.Unmarshal(lines.Bytes(), v); err != nil {
			fmt.Fprintf(&out, "\n") // a torn line
			continue
		}
		if l, ok := v.(*archiveLine); ok && !(archiveName.MatchString(l.Name+l.Kind) && archiveName.MatchString(l.Note)) {
			return nil, fmt.Errorf("%s: line %d is not one of an archive", name, i+1)
		}
		b, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		out.Write(append(b, '\n'))
	}
	return out.Bytes(), lines.Err()
}

// archiveLine has the fields of a line of an archive.
type archiveLine struct {
	Seq    uint64 `json:"seq,omitempty"`
	At     int64  `json:"at"`
	Kind   string `json:"kind,omitempty"`
	Index  int32  `json:"index,omitempty"`
	Name   string `json:"name,omitempty"`
	Slot   int32  `json:"slot,omitempty"`
	Size   int32  `json:"size,omitempty"`
	Mode   uint16 `json:"mode,omitempty"`
	Branch uint8  `json:"branch,omitempty"`
	Note   string `json:"note,omitempty"`
	After  uint64 `json:"after,omitempty"`
	Value  int64  `json:"value,omitempty"`
}

package control

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/transport"
)

// action is something that can be done with a call.
type action struct {
	takes []string // fields of the request, the required ones; with "?" behind it an optional one
	do    func(ctx context.Context, known targets, call *voicegw.Session, in *request) error
}

// targets are addresses by name; nil lets a request name any address.
type targets map[string]string

// actions are those of the path /v1/calls/{call}/{action}.
var actions = map[string]*action{
	"hold":    switched((*voicegw.Session).Hold),
	"mute":    switched((*voicegw.Session).Mute),
	"protect": switched((*voicegw.Session).Protect),
	"consent": switched((*voicegw.Session).Consent),
	// say asks the model to speak as soon as nothing is played.
	"say": {[]string{"text"}, func(ctx context.Context, _ targets, call *voicegw.Session, in *request) error {
		return call.Prompt(ctx, in.Text)
	}},
	// ask sends a text as a turn of the caller, which the model answers.
	"ask": {[]string{"text"}, func(_ context.Context, _ targets, call *voicegw.Session, in *request) error {
		return call.Text(in.Text)
	}},
	// tell lets the model know a text, without an answer.
	"tell": {[]string{"text", "role?"}, func(ctx context.Context, _ targets, call *voicegw.Session, in *request) error {
		if in.Role == "" {
			in.Role = transport.RoleSystem
		}
		return call.Context(ctx, in.Role, in.Text)
	}},
	"hand-off": {[]string{"target"}, handOff},
	"hang-up": {nil, func(_ context.Context, _ targets, call *voicegw.Session, _ *request) error {
		return call.HangUp()
	}},
}

func actionNames() []string { return slices.Sorted(maps.Keys(actions)) }

// switched is an action that turns something on or off.
func switched(turn func(*voicegw.Session, bool) error) *action {
	return &action{[]string{"on"}, func(_ context.Context, _ targets, call *voicegw.Session, in *request) error {
		return turn(call, *in.On)
	}}
}

// handOff transfers the call.
func handOff(_ context.Context, known targets, call *voicegw.Session, in *request) error {
	address := in.Target
	if known != nil {
		named, ok := known[in.Target]
		if !ok {
			return invalid("target: there is no %q; there are: %s", in.Target,
				strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		}
		address = named
	}
	return call.HandOff(address)
}

// check refuses a request without what the action needs, or with what it does not take.
func (a *action) check(in *request) error {
	has := map[string]bool{"on": in.On != nil, "text": in.Text != "", "role": in.Role != "", "target": in.Target != ""}
	for _, field := range slices.Sorted(maps.Keys(has)) {
		required, optional := slices.Contains(a.takes, field), slices.Contains(a.takes, field+"?")
		switch {
		case required && !has[field]:
			return invalid("%s: it is missing; this action takes %s", field, a.wants())
		case has[field] && !required && !optional:
			return invalid("%s: this action takes %s", field, a.wants())
		}
	}
	return nil
}

// wants says what the action takes.
func (a *action) wants() string {
	if len(a.takes) == 0 {
		return "nothing"
	}
	kinds := map[string]string{"on": "true or false", "text": "1 to 4000 characters", "role": "system, user or assistant",
		"target": "where the call goes"}
	var list []string
	for _, f := range a.takes {
		name, _ := strings.CutSuffix(f, "?")
		list = append(list, fmt.Sprintf("%s (%s)", name, kinds[name]))
	}
	return strings.Join(list, " and ")
}

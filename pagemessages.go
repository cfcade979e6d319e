package voicegw

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/voicegw/voicegw/transport"
)

// Limits of the messages of a page: how many may wait for Hooks.Message, and how many may come at
// once and then evenly over time.
const (
	messagesWaitingMax = 64
	messagesBurst      = 50
	messagesGap        = 100 * time.Millisecond
)

// pageMessages are the messages of a caller's page for the application. One goroutine calls take,
// another deliver.
type pageMessages struct {
	hook    func(s *Session, name string, data json.RawMessage)
	permits turnPermits
	waiting chan pageMessage
	up      chan struct{} // closed when the call is up
}

type pageMessage struct {
	name string
	data json.RawMessage
}

func newPageMessages(hook func(*Session, string, json.RawMessage)) *pageMessages {
	return &pageMessages{hook: hook, permits: turnPermits{gap: messagesGap, most: messagesBurst},
		waiting: make(chan pageMessage, messagesWaitingMax), up: make(chan struct{})}
}

// take takes a message, or returns a sentence for the page that says why not.
func (p *pageMessages) take(now time.Time, ev *transport.Event) (refused string) {
	if p.hook == nil {
		return "The application of this gateway takes no messages."
	}
	if err := transport.CheckMessage(ev.Name, ev.Text); err != nil {
		return "The message was not taken: " + err.Error() + "."
	}
	if p.permits.take(now, 1) > 0 {
		return fmt.Sprintf("The message %s was not taken: more than %d messages came within a second.", ev.Name,
			time.Second/messagesGap)
	}
	select {
	case p.waiting <- pageMessage{ev.Name, json.RawMessage(ev.Text)}:
		return ""
	default:
		return fmt.Sprintf("The message %s was not taken: %d messages wait for the application already.", ev.Name,
			messagesWaitingMax)
	}
}

// deliver calls the hook until the call is over.
func (p *pageMessages) deliver(s *Session) {
	select {
	case <-p.up:
	case <-s.Done():
		return
	}
	for {
		select {
		case m := <-p.waiting:
			p.hook(s, m.name, m.data)
		case <-s.Done():
			return
		}
	}
}

// ErrNoMessages means that the protocol of the call's endpoint has no form for a message.
var ErrNoMessages = errors.New("voicegw: the caller's protocol has no messages")

// Send sends the caller's page a message: data as JSON, see transport.CheckMessage. Messages arrive
// in order, and in order with what the call itself sends. If too much waits to be sent, Send waits
// until ctx is done. It returns ErrNoMessages for a call of an endpoint without messages; only the
// gateway's own protocol and RTVI have them.
func (s *Session) Send(ctx context.Context, name string, data any) error {
	text, err := json.Marshal(data)
	if err != nil {
		return fmt.Errorf("voicegw: send a message: %w", err)
	}
	if err := transport.CheckMessage(name, string(text)); err != nil {
		return fmt.Errorf("voicegw: send a message: %w", err)
	}
	if !s.hello.Messages {
		return ErrNoMessages
	}
	select {
	case <-s.Done():
		return ErrOver
	default:
	}
	select {
	case s.peer.replies <- struct{}{}:
		s.peer.put(peerItem{reply: true,
			msg: &transport.Message{Kind: transport.MessageMessage, Name: name, Text: string(text)}})
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-s.Done():
		return ErrOver
	}
}

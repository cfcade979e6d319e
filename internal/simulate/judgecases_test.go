package simulate

import (
	"context"
	"runtime"
	"testing/synctest"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/verify/monitor"
	"github.com/voicegw/voicegw/voicenets"
)

// netCases are those of what the net did, and of what it put out and took in.
func netCases() []judgeCase {
	note := func(name string) func(*world, *caller) {
		return func(_ *world, s *caller) { s.trace.note(fired(s.trace.prog, name)) }
	}
	gate := func(s *caller, names ...string) {
		for _, name := range names {
			s.trace.privacy.note(fired(s.trace.prog, name))
		}
		time.Sleep(time.Second)
	}
	return []judgeCase{
		{"no move of the net", "event 99", func(_ *world, s *caller) {
			s.trace.Append([]petri.Event{{Seq: 99, Kind: petri.Fired}})
		}},
		{"an event that is missing", "the log ends where", func(_ *world, s *caller) {
			s.trace.monitor, _ = monitor.New(s.trace.prog)
			s.trace.archived = false
			s.trace.Append(startEvents(s.trace.prog)[:1])
		}},
		{"a token of no environment", "was injected, and the environment of the proofs has no such token",
			func(_ *world, s *caller) {
				i := s.trace.prog.Place(voicenets.PeerAck.String())
				s.trace.note(petri.Event{Kind: petri.Injected, Index: int32(i)})
			}},
		{"an archive without events", "of 2 events 0 replayed", func(_ *world, s *caller) { s.trace.archive.Reset() }},
		{"audio that got lost", "the net put out audio for the peer 1 times, or 1 before its last moment; 0 arrived",
			note("audio_down")},
		{"audio that got lost when the line broke", "", func(_ *world, s *caller) {
			note("audio_down")(nil, s)
			s.line.fail(transport.ReasonPeerLost)
		}},
		{"audio from nowhere", "the net put out audio for the peer 0 times", func(_ *world, s *caller) {
			s.line.arrived.frames++
		}},
		{"a transcript from nowhere", "the net put out a transcript 0 times", func(_ *world, s *caller) {
			s.line.arrived.transcripts++
		}},
		{"a notice that got lost", "the net put out a notice 1 times", note("notify_mode")},
		{"the caller's frames do not enter", "of at least 94 frames of the caller's 0 entered",
			func(_ *world, s *caller) { s.line.framesRead = 100 }},
		{"the model's frames do not enter", "of at least 49 frames of the model's 0 entered", func(_ *world, s *caller) {
			s.model.chunks = []modelChunk{{s.line.began, time.Second}, {s.line.began, time.Second}}
		}},
		{"the model hears what nobody said", "the net put out audio for the model 0 times", func(_ *world, s *caller) {
			s.model.arrived.frames++
		}},
		{"a text from nowhere", "the net put out a command or text 0 times", func(_ *world, s *caller) {
			s.model.arrived.notices++
		}},
		{"a function's reply from nowhere", "the net put out a reply of a function 0 times",
			func(_ *world, s *caller) { s.model.arrived.replies++ }},
		{"sent without consent", "a frame was sent to the model at 10s, while unconsented", func(_ *world, s *caller) {
			s.model.sent("a frame")
		}},
		{"sent with consent", "", func(_ *world, s *caller) {
			gate(s, "consent")
			s.model.sent("a frame")
		}},
		{"sent while held", "text \"hello\" was sent to the model at 11s, while held", func(_ *world, s *caller) {
			gate(s, "consent", "hold")
			s.model.sentText(&live.ClientMessage{Kind: live.ClientText, Text: "hello"})
		}},
		{"cut off without reason", "the gateway closed its connection at 1s", func(_ *world, s *caller) {
			s.line.speech.completeCuts = []time.Duration{time.Second}
		}},
		{"cut off without consent", "", func(_ *world, s *caller) { s.line.speech.completeCuts = []time.Duration{0} }},
	}
}

// turnOf is the message of a turn.
func turnOf(generation uint64, state transport.State, end transport.TurnEnd) *transport.Message {
	return &transport.Message{Kind: transport.MessageTurn, Generation: generation, State: state, TurnEnd: end}
}

// replyCases are those of the order of what a peer is sent.
func replyCases() []judgeCase {
	const start, pause, resume, end = transport.StateStart, transport.StatePause, transport.StateResume, transport.StateEnd
	// turns takes states of a first reply.
	turns := func(j *replyJudge, states ...transport.State) {
		for _, state := range states {
			j.turn(0, turnOf(1, state, transport.TurnComplete))
		}
	}
	replies := func(f func(j *replyJudge)) func(*world, *caller) {
		return during(func(_ *world, s *caller) { f(&s.line.replies) })
	}
	call := &transport.Message{Kind: transport.MessageToolCall, ID: "1", Text: "{}"}
	send := func(s *caller, m *transport.Message) { _ = s.line.Send(context.Background(), m) }
	return []judgeCase{
		{"a reply", "", replies(func(j *replyJudge) {
			turns(j, start)
			j.audio(0, 1)
			j.mark(0, &transport.Message{ID: "1"})
			turns(j, pause)
			j.uncleared = false
			turns(j, resume, end)
		})},
		{"ready twice", "ready twice", during(func(_ *world, s *caller) {
			_ = s.line.Ready(context.Background(), transport.Ready{})
		})},
		{"audio before ready", "audio before ready", replies(func(j *replyJudge) { j.ready = false; j.audio(0, 1) })},
		{"audio of no reply", "audio of generation 1 while generation 0 is playing: false",
			replies(func(j *replyJudge) { j.audio(0, 1) })},
		{"audio of another reply", "audio of generation 2 while generation 1 is playing: true",
			replies(func(j *replyJudge) { turns(j, start); j.audio(0, 2) })},
		{"audio in a pause", "audio of generation 1 in its pause",
			replies(func(j *replyJudge) { turns(j, start, pause); j.audio(0, 1) })},
		{"a mark of no reply", "a mark while nothing is playing",
			replies(func(j *replyJudge) { j.mark(0, &transport.Message{ID: "1"}) })},
		{"a mark without a name", "a mark while nothing is playing",
			replies(func(j *replyJudge) { turns(j, start); j.mark(0, &transport.Message{}) })},
		{"two starts", "turn start", replies(func(j *replyJudge) {
			turns(j, start)
			j.turn(0, turnOf(2, start, ""))
		})},
		{"an older reply", "turn start", replies(func(j *replyJudge) { turns(j, start, end, start) })},
		{"a pause of nothing", "turn pause", replies(func(j *replyJudge) { turns(j, pause) })},
		{"two pauses", "turn pause", replies(func(j *replyJudge) { turns(j, start, pause, pause) })},
		{"a resumption without a pause", "turn resume", replies(func(j *replyJudge) { turns(j, start, resume) })},
		{"a resumption of what was not cleared", "turn resume", replies(func(j *replyJudge) {
			turns(j, start)
			j.audio(0, 1)
			turns(j, pause, resume)
		})},
		{"an end of nothing", "turn end", replies(func(j *replyJudge) { turns(j, end) })},
		{"an end of another reply", "turn end", replies(func(j *replyJudge) {
			turns(j, start)
			j.turn(0, turnOf(2, end, transport.TurnComplete))
		})},
		{"interrupted and not cleared", "turn end interrupted", replies(func(j *replyJudge) {
			turns(j, start)
			j.audio(0, 1)
			j.turn(0, turnOf(1, end, transport.TurnInterrupted))
		})},
		{"complete in a pause", "turn end complete", replies(func(j *replyJudge) { turns(j, start, pause, end) })},
		{"an end without a start", "speech end after", during(func(_ *world, s *caller) {
			s.line.modes.mode(0, &transport.Message{Kind: transport.MessageSpeech, State: end})
		})},
		{"a start twice", "hold start after start", during(func(_ *world, s *caller) {
			for range 2 {
				s.line.modes.mode(0, &transport.Message{Kind: transport.MessageHold, State: start})
			}
		})},
		{"a message before ready", "tool_call before ready", during(func(_ *world, s *caller) {
			s.line.replies.ready = false
			send(s, call)
		})},
		{"a message after the close", "tool_call came after the close", func(_ *world, s *caller) { send(s, call) }},
		{"arguments that are no JSON", "the arguments of a tool are no JSON", during(func(_ *world, s *caller) {
			m := *call
			m.Text = "{"
			send(s, &m)
		})},
	}
}

// rampFrom is what a model says: samples that tell their position.
func rampFrom(first int16, n int) []int16 {
	pcm := make([]int16, n)
	for i := range pcm {
		pcm[i] = first + int16(i)
	}
	return pcm
}

// speechCases are those of what a peer hears of the model's speech. The model says 1 to 960, and a
// frame is 480 samples.
func speechCases() []judgeCase {
	says := func(f func(j *speechJudge)) func(*world, *caller) {
		return func(_ *world, s *caller) {
			j := &s.line.speech
			j.begins, j.ends = []int16{1}, []int16{961}
			j.begin()
			f(j)
		}
	}
	hear := func(j *speechJudge, firsts ...int16) {
		for _, first := range firsts {
			j.audio(0, rampFrom(first, 480))
		}
	}
	return []judgeCase{
		{"all that was said", "", says(func(j *speechJudge) { hear(j, 1, 481); j.complete(0) })},
		{"said again after a clear", "", says(func(j *speechJudge) {
			hear(j, 1, 481)
			j.cleared = true
			j.drop(480)
			hear(j, 481)
			j.complete(0)
		})},
		{"a hole", "a reply goes on 1000 samples after", says(func(j *speechJudge) { hear(j, 1, 1481) })},
		{"twice", "or 480 before the end of what was sent", says(func(j *speechJudge) { hear(j, 1, 1) })},
		{"more than the budget again", "or 6240 before the end of what was sent", says(func(j *speechJudge) {
			for n := range int16(13) {
				hear(j, 1+480*n)
			}
			j.cleared = true
			hear(j, 1)
		})},
		{"dropped and not said again", "of which 960 were dropped", says(func(j *speechJudge) {
			hear(j, 1, 481)
			j.cleared = true
			j.drop(960)
			hear(j, 961)
		})},
		{"a beginning that is missing", "a reply begins in the middle", says(func(j *speechJudge) { hear(j, 481) })},
		{"lost before a function", "the last 200 samples before a function was called are lost",
			says(func(j *speechJudge) {
				j.begins, j.waiting = append(j.begins, 301), 101
				hear(j, 301)
			})},
		{"half a frame", "a frame has 240 samples", says(func(j *speechJudge) { j.audio(0, rampFrom(1, 240)) })},
		{"a hole in a frame", "sample 100 of a frame does not follow", says(func(j *speechJudge) {
			j.audio(0, append(rampFrom(1, 100), rampFrom(201, 380)...))
		})},
		{"complete without audio", "of which nothing was heard", says(func(j *speechJudge) { j.complete(0) })},
		{"an end that is missing", "a reply is complete, and the model said more", says(func(j *speechJudge) {
			hear(j, 1)
			j.complete(0)
		})},
		{"complete, and much was dropped", "a reply is complete of which 960 samples were dropped",
			says(func(j *speechJudge) {
				hear(j, 1, 481)
				j.drop(960)
				j.complete(0)
			})},
	}
}

// idleConn is a connection to a model that says nothing. It is a live.Dialer too.
type idleConn struct{ live.Conn }

func (c idleConn) Dial(context.Context, live.Setup) (live.Conn, error) { return c, nil }
func (idleConn) Send(context.Context, live.ClientMessage) error        { return nil }

// frameNo is a frame of the caller's with its number.
func frameNo(n int) []int16 {
	pcm := make([]int16, 320)
	stamp(pcm, n)
	return pcm
}

// modelCases are those of connections to the model, and of what is sent to it.
func modelCases() []judgeCase {
	on := func(f func(s *caller, c *modelConn)) func(*world, *caller) {
		return func(_ *world, s *caller) {
			f(s, &modelConn{Conn: idleConn{}, model: s.model, tools: map[string]*toolCall{}, next: -1, gapless: true})
			s.model.arrived = arrivals{}
		}
	}
	frames := func(numbers ...int) func(*world, *caller) {
		return on(func(_ *caller, c *modelConn) {
			for _, n := range numbers {
				c.judgeFrame(frameNo(n))
			}
		})
	}
	dials := func(n int) func(*world, *caller) {
		return func(_ *world, s *caller) {
			for range n {
				s.model.judgePace()
			}
		}
	}
	activity := func(kinds ...live.ClientKind) func(*world, *caller) {
		return on(func(_ *caller, c *modelConn) {
			for _, kind := range kinds {
				_ = c.Send(context.Background(), live.ClientMessage{Kind: kind})
			}
		})
	}
	replies := func(replies ...live.ToolReply) func(*world, *caller) {
		return on(func(_ *caller, c *modelConn) {
			c.tools["known"] = &toolCall{}
			for _, r := range replies {
				c.judgeReplies([]live.ToolReply{r})
			}
		})
	}
	known := live.ToolReply{ID: "known", Name: "book"}
	tooLong := known
	tooLong.Error = timedOutText
	return []judgeCase{
		{"as many dials as there may be", "", dials(dialsMax)},
		{"a dial too many", "connection 2 to the model was tried 1s too early", dials(dialsMax + 1)},
		{"a connection that stays open", "1 of 1 connections to the model were never closed",
			func(_ *world, s *caller) { s.model.dials.closed = 0; s.model.judgeClosed() }},
		{"two connections", "2 connections to the model are open", func(_ *world, s *caller) {
			s.model.Dialer = idleConn{}
			_, _ = s.model.Dial(context.Background(), live.Setup{})
		}},
		{"frames in order", "", frames(7, 8, 9)},
		{"a frame that got lost", "the model heard frame 9 after frame 7: frame 8 is lost", frames(7, 9)},
		{"a frame that the line lost", "", on(func(s *caller, c *modelConn) {
			s.mic.lost[8] = true
			c.judgeFrame(frameNo(7))
			c.judgeFrame(frameNo(9))
		})},
		{"a frame twice", "the model heard frame 7 after frame 7", frames(7, 7)},
		{"no frame of the caller's", "the model heard 320 samples that are no frame", on(func(_ *caller, c *modelConn) {
			c.judgeFrame(make([]int16, 320))
		})},
		{"heard while muted", "the model heard frame 1, captured while the caller mutes", on(func(s *caller, c *modelConn) {
			s.mic.closeGate(doMute)
			c.judgeFrame(frameNo(1))
		})},
		{"heard, captured while on hold", "the model heard frame 1, captured while the caller holds",
			on(func(s *caller, c *modelConn) {
				s.mic.closeGate(doHold)
				s.mic.frame = 10
				s.mic.openGate(doHold, 0)
				c.judgeFrame(frameNo(10))
				c.next = -1
				c.judgeFrame(frameNo(1))
			})},
		{"a turn", "", activity(live.ClientActivityStart, live.ClientActivityEnd)},
		{"a turn in a turn", "-> model: a turn begins", activity(live.ClientActivityStart, live.ClientActivityStart)},
		{"the end of no turn", "-> model: a turn ends", activity(live.ClientActivityEnd)},
		{"a reply to a function", "", replies(known)},
		{"a reply to no function", "a reply to stray, which this connection did not call",
			replies(live.ToolReply{ID: "stray"})},
		{"two replies", "a second reply to known", replies(known, known)},
		{"too long for a quick function", "book had returned long before", replies(tooLong)},
		{"no reply", "1 tool calls were never answered, in 10s", on(func(s *caller, c *modelConn) {
			s.model.patience = time.Second
			c.tools["known"] = &toolCall{at: s.line.began}
			c.tools["cancelled"] = &toolCall{at: s.line.began, cancelled: true}
			c.judgeUnanswered()
		})},
		{"a context that does not end", "a function worked for 2s", func(w *world, _ *caller) {
			_ = w.plan.tools.work(context.Background(), time.After(2*time.Second))
		}},
	}
}

// leakCases are those of what a call leaves behind.
func leakCases() []judgeCase {
	return []judgeCase{
		{"no goroutine is left", "", func(w *world, _ *caller) { w.judgeGoroutines() }},
		{"a goroutine is left", "a goroutine is left of calls that are over", func(w *world, _ *caller) {
			over := make(chan struct{})
			go func() { <-over }()
			w.judgeGoroutines()
			close(over)
			synctest.Wait()
		}},
		{"no session is kept", "", func(w *world, _ *caller) {
			w.track(0, new(voicegw.Session))
			w.judgeMemory()
		}},
		{"a session is kept", "its session is over, and something keeps it", func(w *world, _ *caller) {
			kept := new(voicegw.Session)
			w.track(0, kept)
			w.judgeMemory()
			runtime.KeepAlive(kept)
		}},
	}
}

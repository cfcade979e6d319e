package managed

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/voicegw/voicegw/agent/provider"
	"github.com/voicegw/voicegw/journal"
	"github.com/voicegw/voicegw/journal/journaltest"
)

// f3 begins fixture F-3 on an engine, up to the calls that wait.
func f3(t *testing.T, engine journal.Engine, ids ...string) (*house, *recorder) {
	t.Helper()
	f := loadFixture(t, "f3_custom")
	var list []provider.ScriptCall
	for _, id := range ids {
		list = append(list, provider.ScriptCall{ID: id, Name: "deploy", Args: map[string]any{"target": id}})
	}
	llm := recording(calls(list...), says("It is deployed."))
	h := newHouseOn(t, engine, f.Agent, llm)
	h.say(Text("Deploy"))
	return h, llm
}

// resultFor is what the client answers to a call.
func resultFor(id, text string) Event {
	return Event{Type: UserCustomResult, CustomID: id, Content: []Block{{Type: "text", Text: text}}}
}

// TestF3ResultReachesModel: the text of the result is in the next request to the model, under the model's own id.
func TestF3ResultReachesModel(t *testing.T) {
	onEngines(t, func(t *testing.T, engine journal.Engine) {
		h, llm := f3(t, engine, "ctu_deploy_001")
		defer h.close()
		h.say(resultFor("ctu_deploy_001", "deployed v2"))
		if got := llm.result(t, 2, "ctu_deploy_001"); got != `{"result":"deployed v2"}` {
			t.Errorf("the model got %s", got)
		}
		if n := len(llm.requests()); n != 2 {
			t.Errorf("the model got %d requests", n)
		}
	})
}

// TestF3TwoReversed: of two calls the second is answered first; each result has the id of its call.
func TestF3TwoReversed(t *testing.T) {
	onEngines(t, func(t *testing.T, engine journal.Engine) {
		h, llm := f3(t, engine, "one", "two")
		defer h.close()
		h.say(resultFor("two", "second"))
		if n := len(llm.requests()); n != 1 {
			t.Errorf("the model got %d requests before all results are there", n)
		}
		h.say(resultFor("one", "first"))
		if a, b := llm.result(t, 2, "one"), llm.result(t, 2, "two"); a != `{"result":"first"}` || b != `{"result":"second"}` {
			t.Errorf("the results are %s and %s", a, b)
		}
		if got := short(h.compat()); got != "r c c m i" {
			t.Errorf("the other profile tells %s", got)
		}
	})
}

// TestF3RestartWhileParked: a result that comes after a restart, on another node, is the one of the call.
func TestF3RestartWhileParked(t *testing.T) {
	onEngines(t, func(t *testing.T, engine journal.Engine) {
		h, llm := f3(t, engine, "ctu_deploy_001")
		defer h.close()
		h.cfg.Node = "b"
		h.restart()
		h.say(resultFor("ctu_deploy_001", "deployed v2"))
		if got := llm.result(t, 2, "ctu_deploy_001"); got != `{"result":"deployed v2"}` {
			t.Errorf("the model got %s", got)
		}
		h.tells(`mes, running, mes', use deploy, idle requires_action 1, result, running, "It is deployed.", idle end_turn`)
	})
}

// TestF3WrongID: a result for a call that nobody made is refused and changes nothing.
func TestF3WrongID(t *testing.T) {
	onEngines(t, func(t *testing.T, engine journal.Engine) {
		h, llm := f3(t, engine, "ctu_deploy_001")
		defer h.close()
		before := h.status(Idle).LastSeq
		h.refused(Invalid, `there is no call "ctu_other"`, resultFor("ctu_other", "deployed"))
		h.refused(Invalid, "custom_tool_use_id: it is missing", resultFor("", "deployed"))
		if s := h.status(Idle); s.LastSeq != before {
			t.Errorf("there are %d new events", s.LastSeq-before)
		}
		h.say(resultFor("ctu_deploy_001", "deployed v2"))
		if n := len(llm.requests()); n != 2 {
			t.Errorf("the model got %d requests", n)
		}
	})
}

// TestF3AfterTimeout: a call that waited too long has an error for the model, and takes no result any more.
func TestF3AfterTimeout(t *testing.T) {
	for name, restart := range map[string]bool{"in one process": false, "over a restart": true} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T) {
				d := loadFixture(t, "f3_custom").Agent
				d.Tools[0].Timeout = Duration(5 * time.Minute)
				llm := recording(calls(provider.ScriptCall{ID: "c1", Name: "deploy"}), says("It took too long."))
				h := newHouseOn(t, journaltest.NewMemory(), d, llm)
				defer h.close()
				h.send(Text("Deploy"))
				if restart {
					h.restart()
				}
				time.Sleep(4 * time.Minute)
				synctest.Wait()
				h.tells(`mes, running, mes', use deploy, idle requires_action 1`)
				time.Sleep(2 * time.Minute)
				synctest.Wait()
				h.tells(`mes, running, mes', use deploy, idle requires_action 1, running, "It took too long.", idle end_turn`)
				if got := llm.result(t, 2, "c1"); !strings.Contains(got, `"error":"timed_out`) {
					t.Errorf("the model got %s", got)
				}
				h.refused(Invalid, "waits no longer", resultFor("c1", "late"))
			})
		})
	}
}

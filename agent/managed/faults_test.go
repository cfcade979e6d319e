//go:build !race

package managed

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/voicegw/voicegw/agent/provider"
	"github.com/voicegw/voicegw/agent/provider/wiretest"
	"github.com/voicegw/voicegw/journal/journaltest"
)

// wired are the turns of a fixture's model for the wire servers.
func (f *fixture) wired(t *testing.T) []wiretest.Turn {
	t.Helper()
	var list []wiretest.Turn
	for _, turn := range f.Model.Turns {
		one := wiretest.Turn{Text: turn.Text, Usage: wiretest.Usage{Prompt: 5, Output: 2}}
		for _, c := range turn.Calls {
			args, err := json.Marshal(c.Input)
			if err != nil {
				t.Fatal(err)
			}
			one.Calls = append(one.Calls, wiretest.Call{ID: c.ID, Name: c.Name, Args: string(args)})
		}
		list = append(list, one)
	}
	return list
}

// fixtureFaults are the faults of a server in place of an answer, which then comes at the next attempt.
func fixtureFaults(answer wiretest.Turn, whole bool) map[string]wiretest.Turn {
	faulty := func(f wiretest.Fault) wiretest.Turn {
		answer.Fault = f
		return answer
	}
	list := map[string]wiretest.Turn{
		"429":   {Status: 429, Header: wiretest.RetryAfter(3 * time.Second)},
		"empty": {Usage: wiretest.Usage{Prompt: 5}},
		"cut":   faulty(wiretest.Cut),
	}
	if whole {
		return list
	}
	list["503"], list["529"] = wiretest.Turn{Status: 503}, wiretest.Turn{Status: 529}
	for _, f := range []wiretest.Fault{wiretest.CutFirst, wiretest.ErrorEvent, wiretest.Broken, wiretest.Unended} {
		list[string(f)] = faulty(f)
	}
	if len(answer.Calls) > 0 {
		list["broken arguments"] = faulty(wiretest.BrokenArgs)
	}
	return list
}

// another is what a session tells when a turn is tried again.
const another = `error retrying, rescheduled, running, `

// TestFaultsOfFixtures plays three fixtures (a turn, a tool of the client, a confirmation) with the wire servers of all
// providers, with and without streams. Each fault takes the place of each answer once. Apart from the retries, the
// session must tell the same as without the fault, and tools must run as often.
func TestFaultsOfFixtures(t *testing.T) {
	for _, name := range []string{"f1_hello", "f3_custom", "f4_confirm"} {
		f := loadFixture(t, name)
		turns := f.wired(t)
		for _, info := range provider.Providers() {
			for _, whole := range []bool{false, true} {
				plain, ran := "", 0
				t.Run(fmt.Sprintf("%s/%s/whole=%v", name, info.Name, whole), func(t *testing.T) {
					in(t, func(t *testing.T) { plain, ran = f.withServer(t, info.Name, whole, turns) })
				})
				for i, turn := range turns {
					for fault, bad := range fixtureFaults(turn, whole) {
						t.Run(fmt.Sprintf("%s/%s/whole=%v/%s at %d", name, info.Name, whole, fault, i), func(t *testing.T) {
							in(t, func(t *testing.T) {
								got, n := f.withServer(t, info.Name, whole, slices.Insert(slices.Clone(turns), i, bad))
								if strings.ReplaceAll(got, another, "") != plain || n != ran {
									t.Errorf("the tools ran %d times and the session tells\n\t%s, want %d and\n\t%s", n, got, ran, plain)
								}
							})
						})
					}
				}
			}
		}
	}
}

// withServer plays the scenario with a server and returns what the session tells, and how often tools ran.
func (f *fixture) withServer(t *testing.T, server string, whole bool, turns []wiretest.Turn) (string, int) {
	t.Helper()
	ran := map[string]int{}
	llm, fake := faked(t, server, turns...)
	h := newHouseOn(t, journaltest.NewMemory(), f.Agent, llm, fixtureTools(ran)...)
	defer func() { h.close() }()
	h.cfg.Whole = whole
	h.restart()
	for _, step := range f.Scenario {
		h.send(step.Send...)
		time.Sleep(time.Minute)
		synctest.Wait()
	}
	h.status(Idle)
	if got := fake.Requests(); len(got) < len(turns) {
		t.Errorf("the server got %d requests, want %d", len(got), len(turns))
	}
	return letters(h.events()), total(ran)
}

// TestFaultsOfF2 plays the fixture with a real MCP server while the model's server breaks off the answer
// behind the call once.
func TestFaultsOfF2(t *testing.T) {
	f := loadFixture(t, "f2_mcp")
	server := &f.Agent.MCPServers[0]
	server.Command, server.Args = os.Args[0], []string{mcpArg + "files"}
	file := filepath.Join(t.TempDir(), f.Model.Turns[0].Calls[0].Input["path"].(string))
	if err := os.WriteFile(file, []byte("remember the milk"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Dir(file))
	turns := f.wired(t)
	bad := turns[1]
	bad.Fault = wiretest.CutFirst
	cut := slices.Insert(turns, 1, bad)
	for _, info := range provider.Providers() {
		t.Run(info.Name, func(t *testing.T) {
			llm, fake := faked(t, info.Name, cut...)
			h := newHouseOn(t, journaltest.NewMemory(), f.Agent, llm)
			defer func() { h.close() }()
			h.cfg.Limits.Backoff = []time.Duration{time.Millisecond, time.Millisecond}
			h.restart()
			h.say(f.Scenario[0].Send...)
			got := strings.ReplaceAll(letters(h.events()), another, "")
			if want := `mes, running, mes', use read_file, done, "The file holds a note.", idle end_turn`; got != want {
				t.Errorf("the session tells\n\t%s, want\n\t%s", got, want)
			}
			last, err := json.Marshal(fake.Requests()[len(cut)-1].Body)
			if err != nil || !strings.Contains(string(last), "remember the milk") {
				t.Errorf("the last request is %s, %v", last, err)
			}
		})
	}
}

package workflow

import ("testing";"context";"time"

"github.com/voicegw/voicegw/agent"
"github.com/voicegw/voicegw/verify")

func prove(t *testing.T, text string) {
	w, fs := Load("example.yaml", []byte(text), Registry{})
	for _, f := range fs { t.Log(f) }
	if w == nil { t.Fatal() }
	c, fs := Compile(w)
	for _, f := range fs { t.Log(f) }
	if c == nil { t.Fatal() }
	s := time.Now()
	r, err := agent.Prove(context.Background(), c.Program(nil), verify.Config{Max: 1<<16})
	if err != nil { t.Fatal(err) }
	t.Log(time.Since(s)); t.Log(r.Outcome()); t.Log(r); t.Log(r.Idle)
	for _, rr := range r.Reports { for _, x := range rr.Results { if x.Outcome==verify.Refuted { t.Log(x.Property.Name, x.Reason) } } }
}
func TestFirst(t *testing.T) {
	prove(t, `
name: one
agents: [{name: a, type: code, function: f, output_key: x},{name: b, type: code, function: f, output_key: y}]
orchestration: {type: parallel, agents: [a,b]}
`)
}

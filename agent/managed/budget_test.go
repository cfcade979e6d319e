package managed

import (
	"context"
	"encoding/json"
	"iter"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/adk/v2/model"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent/provider"
	"github.com/voicegw/voicegw/journal/journaltest"
)

// costly is a model whose answers cost 100 tokens of input, 40 of them cached, and 10 of output, 4 of them thoughts.
type costly struct{ model.LLM }

func (c costly) GenerateContent(ctx context.Context, r *model.LLMRequest, stream bool,
) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		for resp, err := range c.LLM.GenerateContent(ctx, r, stream) {
			if resp != nil && !resp.Partial {
				resp.UsageMetadata = &genai.GenerateContentResponseUsageMetadata{PromptTokenCount: 100,
					CachedContentTokenCount: 40, CandidatesTokenCount: 6, ThoughtsTokenCount: 4, TotalTokenCount: 110}
			}
			if !yield(resp, err) {
				return
			}
		}
	}
}

// budgetHouse begins a session with a budget. Its model calls a tool for its first message and says Bye for others.
func budgetHouse(t *testing.T, b *Budget, ran map[string]int) *house {
	t.Helper()
	m := &mind{name: "script", do: func(heard string) provider.ScriptTurn {
		switch heard {
		case "Look":
			return calls(provider.ScriptCall{Name: "look", ID: "c1"})
		case "result look":
			return says("Done.")
		}
		return says("Bye.")
	}}
	h := &house{T: t, engine: journaltest.NewMemory()}
	models := provider.NewResolver()
	models.Add("script", func(provider.Ref) (model.LLM, error) { return costly{m}, nil })
	h.cfg = Config{Journal: h.engine, Models: models, Node: "a", Tools: []Tool{counting("look", ran, nil)},
		Prices: map[string]Price{"script": {Input: 300_000_000, Output: 900_000_000, CacheRead: 30_000_000}}}
	h.open()
	a, err := h.rt.CreateAgent(t.Context(), ada, Definition{Name: "desk", Model: ModelRef{ID: "script"},
		Tools: []ToolConfig{{Type: AgentToolset}}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := h.rt.StartSession(t.Context(), ada, SessionRequest{Agent: a.ID, Budget: b})
	if err != nil {
		t.Fatal(err)
	}
	h.session = s.ID
	return h
}

// raise changes the budget of the session.
func (h *house) raise(b *Budget) {
	h.Helper()
	p := SessionPatch{Budget: BudgetChange{Set: true, To: b}}
	if _, err := h.rt.UpdateSession(h.Context(), ada, h.session, p); err != nil {
		h.Fatal(err)
	}
	synctest.Wait()
}

func usd(cents string) *Money { return &Money{Amount: cents, Currency: "USD"} }

const lookStops = `mes, running, mes', use look, done, idle budget_reached`

// TestBudgetEndsTurn: the request that reaches the budget ends, and no other begins. The session takes no message, and
// goes on by itself when its budget is raised or removed.
func TestBudgetEndsTurn(t *testing.T) {
	for name, c := range map[string]struct {
		limit, still, more *Budget
	}{
		"tokens": {&Budget{Type: "limit", MaxTokens: 110}, &Budget{Type: "limit", MaxTokens: 100},
			&Budget{Type: "limit", MaxTokens: 221}},
		"money": {&Budget{Type: "limit", MaxListCost: usd("1")}, &Budget{Type: "limit", MaxListCost: usd("2")},
			&Budget{Type: "limit", MaxListCost: usd("3")}}, // a request costs 60*0.03 + 40*0.003 + 10*0.09 = 2.82 cents
		"removed": {&Budget{Type: "limit", MaxTokens: 1}, &Budget{Type: "limit", MaxTokens: 2}, nil},
	} {
		for _, restart := range []bool{false, true} {
			in(t, func(t *testing.T) {
				h := budgetHouse(t, c.limit, map[string]int{})
				defer func() { h.close() }()
				h.send(Text("Look"))
				h.tells(lookStops)
				if got := h.find(StatusIdle).StopReason.Detail; got != map[bool]string{true: "max_list_cost",
					false: "max_tokens"}[name == "money"] {
					t.Errorf("%s: the limit is %q", name, got)
				}
				if restart {
					h.restart()
				}
				h.refused(Conflict, "has reached its budget: max_", Text("More"))
				if c.still != nil {
					h.raise(c.still)
					h.refused(Conflict, "has reached its budget: max_", Text("More"))
				}
				before := letters(h.events())
				h.raise(c.more)
				want := before + `, session.updated, running, "Done.", idle end_turn`
				h.tells(want)
				if restart {
					h.restart()
				}
				if name == "money" {
					h.refused(Conflict, "has reached its budget: max_list_cost", Text("More"))
					if got := h.status(Idle).Usage.ListCost; *got != *usd("6") { // 5.64
						t.Errorf("it costs %+v", got)
					}
					return
				}
				h.send(Text("More"))
				h.tells(want + `, mes, running, mes', "Bye.", idle end_turn`)
				if name != "tokens" {
					return
				}
				h.refused(Conflict, "has reached its budget: max_tokens", Text("More"))
				if s := h.status(Idle); s.Usage.tokens() != 330 || s.Usage.ListCost.Amount != "8" {
					t.Errorf("the session has used %+v", s.Usage)
				}
			})
		}
	}
}

// TestBudgetInterrupt: a turn that the budget has stopped is given up with an interrupt. It does not go on when the
// budget is raised, even if that comes right behind the interrupt; the next message begins another turn.
func TestBudgetInterrupt(t *testing.T) {
	for _, restart := range []bool{false, true} {
		in(t, func(t *testing.T) {
			h := budgetHouse(t, &Budget{Type: "limit", MaxTokens: 110}, map[string]int{})
			defer func() { h.close() }()
			h.send(Text("Look"))
			h.tells(lookStops)
			if err := h.rt.Interrupt(t.Context(), ada, h.session); err != nil {
				t.Fatal(err)
			}
			if restart {
				synctest.Wait()
				h.restart()
			}
			h.raise(nil)
			if got := letters(h.events()); strings.Count(got, "running") != 1 || !strings.Contains(got, "int'") {
				t.Errorf("the session tells %s", got)
			}
			if restart {
				h.restart()
			}
			before := letters(h.events())
			h.send(Text("More"))
			h.tells(before + `, mes, running, mes', "Bye.", idle end_turn`)
		})
	}
}

// TestBudgetOfTurn: a turn ends at its own budget; the next message begins another.
func TestBudgetOfTurn(t *testing.T) {
	in(t, func(t *testing.T) {
		h := budgetHouse(t, &Budget{Type: "limit", Turn: &TurnBudget{MaxTokens: 110}}, map[string]int{})
		defer func() { h.close() }()
		h.send(Text("Look"))
		if got := h.find(StatusIdle).StopReason; got.Type != BudgetReached || got.Detail != "turn.max_tokens" {
			t.Errorf("the stop reason is %+v", got)
		}
		h.restart()
		h.send(Text("More"))
		h.tells(lookStops + `, mes, running, mes', "Bye.", idle end_turn`)
	})
}

// TestBudgetOfTurns: the messages of a session are counted, those that wait included.
func TestBudgetOfTurns(t *testing.T) {
	in(t, func(t *testing.T) {
		h := budgetHouse(t, &Budget{Type: "limit", MaxTurns: 3}, map[string]int{})
		defer func() { h.close() }()
		h.send(Text("One"))
		if err := h.rt.Pause(t.Context(), ada, h.session); err != nil {
			t.Fatal(err)
		}
		h.refused(Conflict, "max_turns", Text("Two"), Text("Three"), Text("Four"))
		h.send(Text("Two"), Text("Three"))
		h.refused(Conflict, "max_turns", Text("Four"))
		h.raise(&Budget{Type: "limit", MaxTurns: 2}) // below what waits
		if err := h.rt.Resume(t.Context(), ada, h.session); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if got := h.find(StatusIdle).StopReason; got.Type != BudgetReached || got.Detail != "max_turns" {
			t.Errorf("the stop reason is %+v", got)
		}
		h.raise(nil)
		time.Sleep(time.Second)
		synctest.Wait()
		const want = `idle budget_reached, session.updated, running, "Bye.", idle end_turn`
		if got := letters(h.events()); !strings.HasSuffix(got, want) {
			t.Errorf("the session tells %s", got)
		}
	})
}

// TestBudgetLosesPrice: a model that has no price any more is not asked while money is limited.
func TestBudgetLosesPrice(t *testing.T) {
	in(t, func(t *testing.T) {
		h := budgetHouse(t, &Budget{Type: "limit", MaxListCost: usd("500")}, map[string]int{})
		defer func() { h.close() }()
		h.cfg.Prices = nil
		h.restart()
		h.send(Text("More"))
		if got := h.find(StatusIdle).StopReason; got.Type != BudgetReached || !strings.Contains(got.Detail, "no price") {
			t.Errorf("the stop reason is %+v", got)
		}
	})
}

func TestBudgetRefusals(t *testing.T) {
	in(t, func(t *testing.T) {
		h := budgetHouse(t, nil, map[string]int{})
		defer func() { h.close() }()
		for want, b := range map[string]Budget{
			`budget.type: "" is not "limit"`:                    {MaxTokens: 1},
			"budget: it limits nothing":                         {Type: "limit", Turn: &TurnBudget{}},
			"budget.max_tokens: it is -1":                       {Type: "limit", MaxTokens: -1},
			"budget.max_turns: it is -1":                        {Type: "limit", MaxTurns: -1},
			"budget.turn.max_tokens: it is -5":                  {Type: "limit", Turn: &TurnBudget{MaxTokens: -5}},
			`budget.max_list_cost.amount: "2.50" must be whole`: {Type: "limit", MaxListCost: usd("2.50")},
			`budget.max_list_cost.amount: "0" must be whole`:    {Type: "limit", MaxListCost: usd("0")},
			`budget.turn.max_list_cost.currency: "EUR"`: {Type: "limit",
				Turn: &TurnBudget{MaxListCost: &Money{Amount: "1", Currency: "EUR"}}},
		} {
			patch := SessionPatch{Budget: BudgetChange{Set: true, To: &b}}
			if _, err := h.rt.UpdateSession(t.Context(), ada, h.session, patch); CodeOf(err) != Invalid ||
				!strings.Contains(err.Error(), want) {
				t.Errorf("the error is %v, want %s", err, want)
			}
		}
		h.close()
		h.cfg.Prices = nil
		h.open()
		d := Definition{Name: "desk", Model: ModelRef{ID: "script"}, Budget: &Budget{Type: "limit", MaxListCost: usd("1")}}
		_, err := h.rt.CreateAgent(t.Context(), ada, d)
		if CodeOf(err) != Invalid || !strings.Contains(err.Error(), `the model "script" has no price here`) {
			t.Errorf("the error is %v", err)
		}
		for _, p := range []Price{{Input: -1}, {CacheWrite: PriceMax + 1}} {
			h.cfg.Prices = map[string]Price{"script": p}
			if _, err := New(h.cfg); err == nil || !strings.Contains(err.Error(), `Config.Prices["script"]`) {
				t.Errorf("the error is %v", err)
			}
		}
		h.cfg.Prices = map[string]Price{"gpt-5": {}, "openai/gpt-5": {}}
		if _, err := New(h.cfg); err == nil || !strings.Contains(err.Error(), "twice") {
			t.Errorf("the error is %v", err)
		}
	})
}

// TestCost is exact, and never overflows.
func TestCost(t *testing.T) {
	p := Price{Input: 75_000, Output: 300_001, CacheRead: 18_750, CacheWrite: 93_750}
	u := &Usage{InputTokens: 1, OutputTokens: 3, Thinking: 2, CacheRead: 2, CacheWrite: 1}
	if got := p.cost(u); got != 75_000+3*300_001+2*18_750+93_750 {
		t.Errorf("it costs %d", got)
	}
	if got := (Price{Input: 7}).cost(&Usage{CacheRead: 1, CacheWrite: 1}); got != 14 {
		t.Errorf("a cache without a price costs %d", got)
	}
	most := Price{Input: PriceMax, Output: PriceMax, CacheRead: PriceMax, CacheWrite: PriceMax}.cost(&Usage{
		InputTokens:  math.MaxInt64,
		OutputTokens: math.MaxInt64, CacheRead: math.MaxInt64, CacheWrite: math.MaxInt64})
	if most != 4*math.MaxInt32*PriceMax || most.plus(most) != math.MaxInt64 {
		t.Errorf("the most is %d", most)
	}
	for n, want := range map[picos]string{0: "0", perCent/2 - 1: "0", perCent / 2: "1", 250 * perCent: "250",
		math.MaxInt64: "922337204"} {
		if got := n.money(); got.Amount != want || got.Currency != "USD" {
			t.Errorf("%d is %+v, want %s cents", n, got, want)
		}
	}
	if got := usd("99999999").picos(); got != 999_999_990_000_000_000 {
		t.Errorf("the largest budget is %d", got)
	}
}

func TestParsePrices(t *testing.T) {
	got, err := ParsePrices([]byte("gemini-2.5-flash: {input: 0.30, output: 2.5, cache_read: 0.075}\n" +
		"parrot: {input: 0, output: 0}"))
	if err != nil || got["gemini/gemini-2.5-flash"] != (Price{Input: 300_000, Output: 2_500_000, CacheRead: 75_000}) ||
		len(got) != 2 {
		t.Errorf("%+v, %v", got, err)
	}
	for text, want := range map[string]string{"a: {input: 1}": "needs input and output",
		"a: {input: 1, output: -1}": `"-1" must be dollars`, "a: {input: 1, output: 1e3}": "must be dollars",
		"a: {input: 0.0000001, output: 1}": "must be dollars", "a: {input: 1001, output: 1}": "must be dollars",
		"a: {input: 1, output: 1, cached: 1}": "field cached not found", "a": "cannot unmarshal",
		strings.Repeat("#", definitionMax+1): "at most"} {
		if _, err := ParsePrices([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: the error is %v, want %s", text, err, want)
		}
	}
}

func FuzzParsePrices(f *testing.F) {
	f.Add("a: {input: 0.3, output: 1}")
	f.Fuzz(func(t *testing.T, text string) {
		list, err := ParsePrices([]byte(text))
		if err != nil && len(list) > 0 {
			t.Error("there are prices beside an error")
		}
		for name, p := range list {
			if min(p.Input, p.Output, p.CacheRead, p.CacheWrite) < 0 ||
				max(p.Input, p.Output, p.CacheRead, p.CacheWrite) > PriceMax {
				t.Errorf("%q costs %+v", name, p)
			}
		}
	})
}

// TestBudgetChange tells null from nothing.
func TestBudgetChange(t *testing.T) {
	for text, want := range map[string]string{`{}`: `{}`, `{"budget":null}`: `{"budget":null}`,
		`{"budget":{"type":"limit","max_tokens":5}}`: `{"budget":{"type":"limit","max_tokens":5}}`} {
		var p SessionPatch
		if err := json.Unmarshal([]byte(text), &p); err != nil {
			t.Error(err)
		}
		if b, err := json.Marshal(p); err != nil || string(b) != want {
			t.Errorf("%s becomes %s, %v", text, b, err)
		}
	}
	var p SessionPatch
	if err := json.Unmarshal([]byte(`{"budget":{"limit":5}}`), &p); err == nil || !strings.Contains(err.Error(), "limit") {
		t.Errorf("the error is %v", err)
	}
}

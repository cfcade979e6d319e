package managed

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/voicegw/voicegw/agent/provider"
)

// Budget is what a session may use. It is compared before each request to a model; the request that reaches it
// still ends. So a session exceeds its budget by one request at most, or by as many as its program makes at a
// time. A zero field is no limit; one limit at least is set.
type Budget struct {
	Type        string `json:"type"` // limit
	MaxListCost *Money `json:"max_list_cost,omitempty"`
	MaxTokens   int64  `json:"max_tokens,omitempty"` // of input, output and cache
	MaxTurns    int    `json:"max_turns,omitempty"`  // messages of the user
	// Turn limits what one message may lead to.
	Turn *TurnBudget `json:"turn,omitempty"`
}

// TurnBudget is what one message of the user may lead to, over all calls that wait meanwhile.
type TurnBudget struct {
	MaxListCost *Money `json:"max_list_cost,omitempty"`
	MaxTokens   int64  `json:"max_tokens,omitempty"`
}

// Money is an amount of US dollars.
type Money struct {
	Amount   string `json:"amount"`   // whole cents: "2500" is $25
	Currency string `json:"currency"` // USD
}

// Price is what the tokens of a model cost: millionths of a US dollar for a million tokens, so that 300_000 is
// $0.30. Tokens of thinking are output. A cache that has no price of its own costs as much as input, and audio
// as much as text. At most PriceMax.
type Price struct {
	Input, Output, CacheRead, CacheWrite int64
	InputAudio, OutputAudio              int64 // of Live models; budgets do not use them
}

// PriceMax is the highest price of a million tokens: $1000.
const PriceMax = 1_000_000_000

// picos is an amount in millionths of a millionth of a dollar: tokens times a Price.
type picos int64

const perCent picos = 1e10

// cost is what usage costs. It does not overflow: a response has at most math.MaxInt32 tokens of a kind.
func (p Price) cost(u *Usage) picos {
	own := func(cache int64) int64 {
		if cache == 0 {
			return p.Input
		}
		return cache
	}
	few := func(n int64) int64 { return min(n, math.MaxInt32) }
	return picos(few(u.InputTokens)*p.Input + few(u.OutputTokens)*p.Output + few(u.CacheRead)*own(p.CacheRead) +
		few(u.CacheWrite)*own(p.CacheWrite))
}

// plus is a sum that stays at the largest amount.
func (p picos) plus(q picos) picos {
	if p > math.MaxInt64-q {
		return math.MaxInt64
	}
	return p + q
}

// money is an amount in whole cents, rounded.
func (p picos) money() *Money {
	return &Money{Amount: strconv.FormatInt(int64(p/perCent+(p%perCent+perCent/2)/perCent), 10), Currency: currency}
}

const currency = "USD"

var wholeCents = regexp.MustCompile(`^[1-9][0-9]{0,7}$`)

// picos is the amount of a Money that is checked.
func (m *Money) picos() picos {
	n, err := strconv.ParseInt(m.Amount, 10, 64)
	if err != nil {
		return 0
	}
	return picos(n) * perCent
}

// check finds what is wrong with an amount.
func (m *Money) check(at string) error {
	switch {
	case m == nil:
		return nil
	case !wholeCents.MatchString(m.Amount):
		return invalid(at+".amount", "%q must be whole cents, \"1\" to \"99999999\"", m.Amount)
	case m.Currency != currency:
		return invalid(at+".currency", "%q is not %q, the only one there is", m.Currency, currency)
	}
	return nil
}

// check finds what is wrong with a budget by itself.
func (b *Budget) check(at string) error {
	const most = 1 << 50
	if b == nil {
		return nil
	}
	turn := TurnBudget{}
	if b.Turn != nil {
		turn = *b.Turn
	}
	for field, n := range map[string]int64{".max_tokens": b.MaxTokens, ".max_turns": int64(b.MaxTurns),
		".turn.max_tokens": turn.MaxTokens} {
		if n < 0 || n > most {
			return invalid(at+field, "it is %d; give 1 to %d, or leave it out", n, int64(most))
		}
	}
	switch {
	case b.Type != "limit":
		return invalid(at+".type", "%q is not \"limit\", the only type there is", b.Type)
	case b.MaxListCost == nil && b.MaxTokens == 0 && b.MaxTurns == 0 && turn == TurnBudget{}:
		return invalid(at, "it limits nothing; give one of max_list_cost, max_tokens, max_turns, turn.max_list_cost, "+
			"turn.max_tokens")
	}
	if err := b.MaxListCost.check(at + ".max_list_cost"); err != nil {
		return err
	}
	return turn.MaxListCost.check(at + ".turn.max_list_cost")
}

// affords checks a budget of an agent that asks models: a limit of money needs their prices.
func (r *Runtime) affords(at string, b *Budget, models []string) error {
	if err := b.check(at); err != nil {
		return err
	}
	if !b.money() {
		return nil
	}
	for _, name := range models {
		if _, ok := r.price(name); !ok {
			return invalid(at, "the model %q has no price here, so money cannot limit it; limit tokens instead", name)
		}
	}
	return nil
}

// money reports whether the budget limits money.
func (b *Budget) money() bool {
	return b != nil && (b.MaxListCost != nil || b.Turn != nil && b.Turn.MaxListCost != nil)
}

// firstOf is the first text that is not empty.
func firstOf(list ...string) string {
	for _, text := range list {
		if text != "" {
			return text
		}
	}
	return ""
}

// price is the price of a model.
func (r *Runtime) price(name string) (Price, bool) {
	p, ok := r.prices[ModelName(name)]
	return p, ok
}

// ModelName returns the whole name of a model, with its provider.
func ModelName(name string) string {
	ref, err := provider.ParseRef(name)
	if err != nil {
		return name
	}
	return ref.String()
}

// readPrices takes the prices of a Config by whole names.
func readPrices(list map[string]Price) (map[string]Price, error) {
	prices := map[string]Price{}
	for _, name := range slices.Sorted(maps.Keys(list)) {
		p := list[name]
		for _, n := range []int64{p.Input, p.Output, p.CacheRead, p.CacheWrite, p.InputAudio, p.OutputAudio} {
			if n < 0 || n > PriceMax {
				return nil, fmt.Errorf("managed: Config.Prices[%q] has %d; it may have 0 to %d", name, n, PriceMax)
			}
		}
		if _, twice := prices[ModelName(name)]; twice {
			return nil, fmt.Errorf("managed: Config.Prices has the model %q twice", ModelName(name))
		}
		prices[ModelName(name)] = p
	}
	return prices, nil
}

// ParsePrices reads Config.Prices from YAML or JSON: for each model input, output and perhaps cache_read,
// cache_write, input_audio and output_audio, in US dollars for a million tokens, with up to 6 decimals.
func ParsePrices(text []byte) (map[string]Price, error) {
	var list map[string]struct {
		Input      *string `yaml:"input"`
		Output     *string `yaml:"output"`
		CacheRead  *string `yaml:"cache_read"`
		CacheWrite *string `yaml:"cache_write"`
		AudioIn    *string `yaml:"input_audio"`
		AudioOut   *string `yaml:"output_audio"`
	}
	if len(text) > definitionMax {
		return nil, fmt.Errorf("managed: prices: %d bytes; at most %d are allowed", len(text), definitionMax)
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(&list); err != nil {
		return nil, fmt.Errorf("managed: prices: %s", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	prices := map[string]Price{}
	for _, name := range slices.Sorted(maps.Keys(list)) {
		one, p := list[name], Price{}
		if one.Input == nil || one.Output == nil {
			return nil, fmt.Errorf("managed: prices: the model %q needs input and output", name)
		}
		for _, f := range []struct {
			from *string
			to   *int64
		}{{one.Input, &p.Input}, {one.Output, &p.Output}, {one.CacheRead, &p.CacheRead}, {one.CacheWrite, &p.CacheWrite},
			{one.AudioIn, &p.InputAudio}, {one.AudioOut, &p.OutputAudio}} {
			var err error
			if *f.to, err = dollars(f.from); err != nil {
				return nil, fmt.Errorf("managed: prices: the model %q: %w", name, err)
			}
		}
		prices[name] = p
	}
	return readPrices(prices)
}

// dollars reads an amount of dollars as millionths.
func dollars(n *string) (int64, error) {
	if n == nil {
		return 0, nil
	}
	whole, part, _ := strings.Cut(*n, ".")
	digits := whole + part + strings.Repeat("0", max(0, 6-len(part)))
	v, err := strconv.ParseUint(digits, 10, 63)
	if err != nil || len(part) > 6 || whole == "" || v > PriceMax {
		return 0, fmt.Errorf("%q must be dollars, 0 to 1000, with up to 6 decimals", *n)
	}
	return int64(v), nil
}

// tokens is how many tokens there are.
func (u *Usage) tokens() int64 { return u.InputTokens + u.OutputTokens + u.CacheRead + u.CacheWrite }

// spent is what a session had used at a moment.
type spent struct {
	Tokens int64 `json:"tokens"`
	Cost   picos `json:"cost"`
}

// reached is the limit of the session's budget that is reached, for another request; "" if none.
func (s *state) reached() string {
	b := s.info.Budget
	switch {
	case b == nil:
	case b.MaxListCost != nil && s.head.Cost >= b.MaxListCost.picos():
		return "max_list_cost"
	case b.MaxTokens > 0 && s.head.Usage.tokens() >= b.MaxTokens:
		return "max_tokens"
	case b.MaxTurns > 0 && s.head.Begun > b.MaxTurns:
		return "max_turns"
	}
	return ""
}

// turnReached is reached for the budget of a turn.
func (s *state) turnReached() string {
	if s.info.Budget == nil || s.info.Budget.Turn == nil {
		return ""
	}
	b, since := s.info.Budget.Turn, s.spent
	switch {
	case b.MaxListCost != nil && s.head.Cost-since.Cost >= b.MaxListCost.picos():
		return turnMaxListCost
	case b.MaxTokens > 0 && s.head.Usage.tokens()-since.Tokens >= b.MaxTokens:
		return turnMaxTokens
	}
	return ""
}

// stalls reports whether a turn ended at the budget of the session: it goes on once there is more.
func (e *turnEnd) stalls() bool {
	return e.How == turnEnded && e.Stop == BudgetReached && e.Detail != turnMaxListCost && e.Detail != turnMaxTokens
}

// The limits of a turn, as turnEnd.Detail has them in the journal. A turn that ends at one of them is over; at a limit
// of the session it goes on once there is more.
const (
	turnMaxListCost = "turn.max_list_cost"
	turnMaxTokens   = "turn.max_tokens"
)

// refuses says why a session takes no message beside those that wait; nil if it takes one.
func (s *state) refuses(waiting int) error {
	limit := s.reached()
	if b := s.info.Budget; limit == "" && b != nil && b.MaxTurns > 0 && s.head.Begun+waiting > b.MaxTurns {
		limit = "max_turns"
	}
	if limit == "" {
		return nil
	}
	return conflict("the session has reached its budget: %s; raise or remove the budget of the session, or begin another",
		limit)
}

// budgetError ends a turn at its budget.
type budgetError struct{ limit string }

func (e *budgetError) Error() string { return "the budget is reached: " + e.limit }

// BudgetChange is a new budget, or none. The zero value changes nothing.
type BudgetChange struct {
	Set bool
	To  *Budget
}

// IsZero reports whether nothing changes.
func (c BudgetChange) IsZero() bool { return !c.Set }

// MarshalJSON writes the budget, or null.
func (c BudgetChange) MarshalJSON() ([]byte, error) { return json.Marshal(c.To) }

// UnmarshalJSON reads a budget, or null.
func (c *BudgetChange) UnmarshalJSON(b []byte) error {
	c.Set, c.To = true, nil
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&c.To); err != nil {
		return invalid("budget", "%v", errors.New(strings.TrimPrefix(err.Error(), "json: ")))
	}
	return nil
}

package agent

import (
	"context"
	"testing"
	"time"

	"google.golang.org/adk/v2/model"
	"google.golang.org/genai"
)

// BenchmarkRace races a branch that answers after 5 ms with one that never does. It reports how much
// later than the answer of the faster branch the turn ends, and the longest such delay.
func BenchmarkRace(b *testing.B) {
	var answered time.Time
	fast := Branch{Name: "fast", Do: func(context.Context, *Request) (*model.LLMResponse, error) {
		time.Sleep(5 * time.Millisecond)
		answered = time.Now()
		return words("fast"), nil
	}}
	p := newProgram(b, Config{Agents: []Agent{{Name: "host", Strategy: Race{Tiers: [][]Branch{{
		after("slow", time.Hour, "slow"), fast}}}}}})
	s, err := Start(p, Options{})
	if err != nil {
		b.Fatal(err)
	}
	var sum, most time.Duration
	for b.Loop() {
		end, err := s.Run(b.Context(), &Turn{ID: "t", Message: genai.NewContentFromText("go", "user")})
		if err != nil || end.How != Answered {
			b.Fatal(end, err)
		}
		late := time.Since(answered)
		sum, most = sum+late, max(most, late)
	}
	b.ReportMetric(float64(sum.Microseconds())/float64(b.N), "us-late/op")
	b.ReportMetric(float64(most.Microseconds()), "us-late-max")
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
}

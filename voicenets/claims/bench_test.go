package claims

import (
	"context"
	"testing"
)

// BenchmarkCheck is what a gateway does at its start for one kind of session, the largest that
// ships: everything again that its certificates say.
func BenchmarkCheck(b *testing.B) {
	ctx, c, kept := context.Background(), Shipped()[0], memory{}
	c.Greeting, c.ToolSlots = true, 2
	if _, err := prove(ctx, c, kept); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.ResetTimer()
	markings := 0
	for range b.N {
		p, err := prove(ctx, c, kept)
		if err != nil || p.Source == FromNow {
			b.Fatal(err)
		}
		markings += p.Markings
	}
	b.ReportMetric(float64(markings)/b.Elapsed().Seconds(), "markings/s")
}

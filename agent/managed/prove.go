package managed

import (
	"context"
	"fmt"
	"time"

	"github.com/voicegw/voicegw/agent"
	"github.com/voicegw/voicegw/agent/managed/life"
	"github.com/voicegw/voicegw/agent/provider"
	"github.com/voicegw/voicegw/verify"
)

// Prove proves the nets that sessions of a Runtime with these limits run on: the net of a session's life,
// with and without a time-out of calls, with results together and one by one, and that of an agent, which is
// the same for all definitions. It returns how many claims hold.
func Prove(ctx context.Context, l Limits) (claims int, err error) {
	l = l.filled()
	for _, k := range []lifeKind{{}, {time.Minute, false}, {0, true}, {time.Minute, true}} {
		report, err := life.Prove(ctx, life.Config{Backoff: l.Backoff, ParkTimeout: k.parkTimeout, Eager: k.eager},
			verify.Config{})
		if err != nil {
			return claims, err
		}
		if report.Outcome() != verify.Proved {
			return claims, fmt.Errorf("managed: the life of a session is not proved:\n%s", report)
		}
		claims += count(report)
	}
	prog, err := agent.New(programConfig(agent.Agent{Model: provider.Parrot{}}, &program{}, &asker{agent: "agent"}, l))
	if err != nil {
		return claims, err
	}
	report, err := agent.Prove(ctx, prog, verify.Config{})
	if err != nil {
		return claims, err
	}
	if report.Outcome() != verify.Proved {
		return claims, fmt.Errorf("managed: the net of an agent is not proved:\n%s", report)
	}
	claims += count(report)
	return claims, nil
}

func count(r *verify.ClosuresReport) (n int) {
	for _, one := range r.Reports {
		n += len(one.Results)
	}
	return n
}

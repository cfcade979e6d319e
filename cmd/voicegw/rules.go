package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/access"
	"github.com/voicegw/voicegw/settings"
	"github.com/voicegw/voicegw/transport"
)

// ruleLabel is the label of a call that names its rule.
const ruleLabel = "rule"

// clientRule is a rule with the quota of its calls, which a reload keeps.
type clientRule struct {
	settings.Rule
	quota *access.Quota // nil: no limit
}

// clientRules are the rules of the settings. Rules of before keep their quotas; limit then gives these the limits that
// the rules have now.
func clientRules(set *settings.Settings, before []clientRule) (list []clientRule, limit func(), err error) {
	var limits []func()
	for _, r := range set.Rules {
		one := clientRule{Rule: r}
		if i := slices.IndexFunc(before, func(b clientRule) bool { return b.Name == r.Name }); i >= 0 {
			one.quota = before[i].quota
		}
		switch {
		case one.quota != nil:
			var commit func()
			commit, err = one.quota.PrepareLimits(r.Limits)
			limits = append(limits, commit)
		case r.Limits != access.Limits{}:
			one.quota, err = access.NewQuota("rule "+r.Name, r.Limits)
		}
		if err != nil {
			return nil, nil, err
		}
		list = append(list, one)
	}
	return list, func() {
		for _, commit := range limits {
			commit()
		}
	}, nil
}

// ruleOf returns the first rule that takes a call, nil if there is none.
func ruleOf(list []clientRule, grant *access.Grant, hello *transport.Hello) *clientRule {
	if grant == nil {
		grant = &access.Grant{}
	}
	for i := range list {
		if list[i].When.Take(grant.Tenant, grant.Subject, hello) {
			return &list[i]
		}
	}
	return nil
}

// plan plans a call as the rule says. The caller narrows the plan further by the token.
func (r *clientRule) plan(p *voicegw.Plan, session *voicegw.SessionRules, grant *access.Grant) error {
	if r.Refuse != "" {
		return &transport.Refused{Reason: transport.ReasonUnauthorized, Message: r.Refuse,
			Err: fmt.Errorf("the rule %s refuses the call", r.Name)}
	}
	if r.quota != nil {
		if err := r.quota.Take(time.Now()); err != nil {
			return err
		}
		p.Release = r.quota.GiveBack
	}
	s := p.Setup
	s.Voice, s.Language = cmp.Or(r.Voice, s.Voice), cmp.Or(r.Language, s.Language)
	if r.Model != "" {
		s.Model, session.Models = r.Model, voicegw.Names{}
	}
	if r.Voice != "" {
		session.Voices = voicegw.Names{}
	}
	s.Temperature, s.MaxOutputTokens = cmp.Or(r.Temperature, s.Temperature), cmp.Or(r.MaxOutputTokens, s.MaxOutputTokens)
	session.Generation = session.Generation && r.Temperature == nil && r.MaxOutputTokens == nil
	p.SystemInstruction, p.Greeting = r.Instructions, cmp.Or(r.Greeting, p.Greeting)
	if r.Clients != nil {
		*session = session.Only(*r.Clients)
	}
	if r.Tools != nil {
		p.Allow = func(tool string) bool { return slices.Contains(*r.Tools, tool) }
	}
	p.Labels = map[string]string{ruleLabel: r.Name}
	maps.Copy(p.Labels, r.Labels)
	if grant != nil {
		grant.Shorten(r.CallMax)
	}
	return nil
}

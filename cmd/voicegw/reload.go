package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/access"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/settings"
	"github.com/voicegw/voicegw/transport"
)

// callRules are what a call takes from the settings when it begins.
type callRules struct {
	setup        live.Setup
	session      voicegw.SessionRules
	dialer       live.Dialer
	instructions map[string]string
	greeting     string            // "" leaves the gateway without one
	targets      map[string]string // of operators' hand-offs, which change at once
	tools        []voicegw.Tool    // nil: those of the gateway
	clients      []clientRule
}

// plan plans a call. The first rule that takes the call decides about it. Its token may name the model and the tools
// and narrow what the client may choose.
func (s *serving) plan(ctx context.Context, hello *transport.Hello) (*voicegw.Plan, error) {
	rules := s.rules.Load()
	setup, own := rules.setup, rules.session
	p := &voicegw.Plan{Setup: &setup, Session: &own, Dialer: rules.dialer, Instructions: rules.instructions,
		Greeting: rules.greeting, BaseTools: rules.tools}
	grant := access.GrantOf(ctx)
	if rule := ruleOf(rules.clients, grant, hello); rule != nil {
		if err := rule.plan(p, &own, grant); err != nil {
			return nil, err
		}
	}
	if grant == nil {
		return p, nil
	}
	own = own.Only(grant.Session)
	ruled := p.Allow
	p.Allow = func(tool string) bool { return grant.Allows(tool) && (ruled == nil || ruled(tool)) }
	labels := ownerLabels(grant)
	maps.Copy(labels, p.Labels) // which name no owner
	p.Labels = labels
	if grant.Model != "" {
		setup.Model, own.Models = grant.Model, voicegw.Names{}
	}
	return p, nil
}

// reloader takes changes of the settings while the gateway runs.
type reloader struct {
	serving *serving
	admin   *admin // nil if admin_listen is off
	level   zap.AtomicLevel
	read    func() (*settings.Settings, error) // reads the sources again
	now     *settings.Settings                 // what is in use, as far as a reload can change it
}

// run reloads at each signal until ctx is done.
func (r *reloader) run(ctx context.Context, signals <-chan os.Signal) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-signals:
			r.reload()
		}
	}
}

// reload reads the settings and the files with secrets again. What a running gateway can take changes
// for calls that begin afterwards; the log names the rest. If anything is wrong, nothing changes.
func (r *reloader) reload() {
	log := r.serving.log.Named("reload")
	next, err := r.read()
	if err != nil {
		log.Error("the settings are wrong, so nothing changes", zap.Error(err))
		return
	}
	p, err := r.plan(next)
	if err != nil {
		log.Error("the settings are wrong, so nothing changes", zap.Error(err))
		return
	}
	r.commit(p)
	switch {
	case len(p.done) > 0:
		log.Info("settings changed for calls that begin from now on", zap.Strings("settings", p.done))
	case len(p.later) == 0:
		log.Info("no setting has changed")
	}
	if len(p.later) > 0 {
		log.Warn("these settings changed and need a restart", zap.Strings("settings", p.later))
	}
	for _, note := range next.Notes {
		log.Warn(note)
	}
}

// replacement is what a reload replaces in a running gateway. All of it is built and checked.
type replacement struct {
	next        *settings.Settings
	done, later []string // the keys of changes that are taken now, and of those that need a restart
	swaps       []func() // each replaces one thing, and cannot fail
}

// takes reports whether one of the settings changes now.
func (p *replacement) takes(keys ...string) bool {
	return slices.ContainsFunc(keys, func(key string) bool { return slices.Contains(p.done, key) })
}

// swap adds what commit does to make one change.
func (p *replacement) swap(one func()) { p.swaps = append(p.swaps, one) }

// prepared adds a change that was prepared, unless that failed. Its error names the setting.
func (p *replacement) prepared(setting string, commit func(), err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", setting, err)
	}
	p.swap(commit)
	return nil
}

// commit makes the changes of a plan. It cannot fail.
func (r *reloader) commit(p *replacement) {
	for _, swap := range p.swaps {
		swap()
	}
	r.now = p.next.Keeping(r.now, p.later)
}

// plan builds and checks everything that a reload replaces, and changes nothing. Its error names the setting.
func (r *reloader) plan(next *settings.Settings) (*replacement, error) {
	functions, err := r.serving.functions(next)
	if err != nil {
		return nil, err
	}
	p := &replacement{next: next}
	p.done, p.later = r.changes(next, functions)
	if err := r.calls(p, functions); err != nil {
		return nil, err
	}
	for _, prepare := range []func(*replacement) error{r.access, r.admission, r.twilio, r.asterisk, r.webRTC,
		r.hooks, r.allow} {
		if err := prepare(p); err != nil {
			return nil, err
		}
	}
	p.swap(func() { r.level.SetLevel(next.Log.Level) })
	return p, nil
}

// access prepares the secrets that sign call tokens.
func (r *reloader) access(p *replacement) error {
	admission, err := p.next.Access()
	if err != nil {
		return err
	}
	if _, err := access.New(admission); err != nil {
		return fmt.Errorf("access: %w", err)
	}
	if !p.takes("access.secret_file") {
		return nil
	}
	commit, err := r.serving.guard.PrepareSecrets(admission.Secrets)
	return p.prepared("access.secret_file", commit, err)
}

// admission prepares the token of the admin listener.
func (r *reloader) admission(p *replacement) error {
	token, err := adminToken(p.next)
	if err == nil && p.takes("admin.token_file") {
		p.swap(func() { r.admin.setToken(token) })
	}
	return err
}

// twilio prepares the targets of transfers and the secrets of carriers.
func (r *reloader) twilio(p *replacement) error {
	if p.takes("twilio.targets") {
		commit, err := r.serving.endpoints.twilio.PrepareTargets(targets(p.next.Twilio.Targets))
		if err := p.prepared("twilio.targets", commit, err); err != nil {
			return err
		}
	}
	token, secret, err := twilioSecrets(p.next)
	if err != nil || !p.takes("twilio.auth_token_file", "twilio.secret_file") {
		return err
	}
	commit, err := r.serving.endpoints.twilio.PrepareSecrets(token, secret)
	return p.prepared("twilio.secret_file", commit, err)
}

// asterisk prepares the credentials of Asterisk and the extensions that they lead to, which change together.
func (r *reloader) asterisk(p *replacement) error {
	password, ari, err := asteriskSecrets(p.next)
	if err != nil || !p.takes(asteriskKeys()...) {
		return err
	}
	commit, err := r.serving.endpoints.asterisk.PrepareTargets(targets(p.next.Asterisk.Targets))
	if err := p.prepared("asterisk.targets", commit, err); err != nil {
		return err
	}
	commit, err = r.serving.endpoints.asterisk.PrepareCredentials(p.next.Asterisk.User, password, ari)
	return p.prepared("asterisk.password_file", commit, err)
}

// webRTC prepares the servers that callers over WebRTC are given.
func (r *reloader) webRTC(p *replacement) error {
	servers, err := iceServers(p.next)
	if e := r.serving.endpoints; err != nil || e == nil || e.webrtc == nil {
		return err
	}
	commit, err := r.serving.endpoints.webrtc.PrepareICEServers(servers)
	return p.prepared("webrtc.ice_servers, webrtc.turn_servers", commit, err)
}

// hooks prepares the secret of the webhooks of all calls.
func (r *reloader) hooks(p *replacement) error {
	if p.next.Webhooks.SecretFile == "" {
		return nil
	}
	secret, err := signingSecret(p.next, "")
	if err != nil || !p.takes("webhooks.secret_file") {
		return err
	}
	commit, err := r.serving.webhooks.prepareSecret(secret)
	return p.prepared("webhooks.secret_file", commit, err)
}

// allow prepares the private addresses of the webhooks of all calls. Those of functions are new with each reload.
func (r *reloader) allow(p *replacement) error {
	if !p.takes(allowKey) {
		return nil
	}
	commit, err := r.serving.webhooks.prepareAllow(p.next.Webhooks.Allow)
	return p.prepared(allowKey, commit, err)
}

// calls prepares what calls take from the settings when they begin, but for the settings that need a restart.
func (r *reloader) calls(p *replacement, functions hookTools) error {
	s, next := r.serving, p.next
	rules := *s.rules.Load()
	later := func(key string) bool { return slices.Contains(p.later, key) }
	clients, limit, err := clientRules(next, rules.clients)
	if err != nil {
		return fmt.Errorf("rules %s: %w", next.RulesFile, err)
	}
	if !later("rules") {
		rules.clients = clients
		p.swap(limit)
	}
	if !r.toolsHeld(next) {
		rules.tools = append([]voicegw.Tool{}, functions.tools...)
		p.swap(func() { s.hookSecrets = functions.secrets })
	}
	if !later("handoff.targets") {
		rules.targets = next.HandOff.Targets
	}
	if !later("greeting") {
		rules.greeting = next.Greeting()
	}
	rules.setup.Voice, rules.setup.Language = next.Voice, next.Language
	rules.setup.Temperature, rules.setup.MaxOutputTokens = next.Model.Temperature, next.Model.LongestReply()
	rules.instructions = next.Instructions
	rules.setup.SystemInstruction = next.Instructions["default"]
	if !later("model.name") && !later("model.key_file") && !next.Embedded() && !s.settings.Embedded() {
		m := *s.model
		m.wire.Model, m.wire.APIKey = next.Model.Name, next.Wire().APIKey
		rules.dialer, rules.setup.Model = m.dialer(), next.Model.Name
	}
	p.swap(func() { s.rules.Store(&rules) })
	return nil
}

// changes returns the keys of the changes that need no restart, and of the others.
func (r *reloader) changes(next *settings.Settings, functions hookTools) (done, later []string) {
	for _, c := range r.serving.settings.Changes(next) {
		if c.File && slices.Contains(settings.Reread(), c.Key) {
			continue
		}
		if !c.Reloads || r.held(c.Key, next) {
			later = append(later, c.Key)
		}
	}
	for _, c := range r.now.Changes(next) {
		if c.Reloads && !slices.Contains(later, c.Key) {
			done = append(done, c.Key)
		}
	}
	if functions.secrets == r.serving.hookSecrets || slices.Contains(slices.Concat(done, later), toolsKey) {
		return done, later
	}
	// A secret changed in a file that the file of functions names.
	if r.toolsHeld(next) {
		return done, append(later, toolsKey)
	}
	return append(done, toolsKey), later
}

// held reports whether a change that a running gateway could take needs a restart because of others.
func (r *reloader) held(key string, next *settings.Settings) bool {
	started, e := r.serving.settings, r.serving.endpoints
	if slices.Contains(asteriskKeys(), key) { // who may call must not change with them, nor a password go elsewhere
		a, b := started.Asterisk, next.Asterisk
		return e == nil || e.asterisk == nil || (a.PasswordFile == "") != (b.PasswordFile == "") || a.ARIURL != b.ARIURL
	}
	switch key {
	case "access.secret_file":
		return started.TokensRequired() != next.TokensRequired() || !r.serving.guard.WantsTokens()
	case "admin.token_file": // the listener that is open keeps its token: the next address may need none, but not this one
		return r.admin == nil || next.AdminTokenFile == "" && started.AdminListen != next.AdminListen
	case "twilio.auth_token_file", "twilio.secret_file": // who may call must not change with them
		a, b := started.Twilio, next.Twilio
		return e == nil || e.twilio == nil || (a.AuthTokenFile+a.SecretFile == "") != (b.AuthTokenFile+b.SecretFile == "")
	case "twilio.targets":
		return e == nil || e.twilio == nil
	case toolsKey:
		return r.toolsHeld(next)
	case allowKey: // functions need it too
		return r.allowHeld(next) || r.toolsHeld(next) && len(started.WebTools)+len(next.WebTools) > 0
	case "handoff.targets", "handoff.tool": // the function of the model has the targets too
		return r.toolsHeld(next) && (started.HandOff.Tool || next.HandOff.Tool)
	case "greeting": // the net depends on whether there is one
		return (started.Greeting() == "") != (next.Greeting() == "")
	case "rules":
		return started.Greeting() == "" && slices.ContainsFunc(next.Rules, func(rule settings.Rule) bool {
			return rule.Greeting != ""
		})
	case "model.name", "model.key_file": // a key must not go to another service than the one it is for
		a, b := started.Model, next.Model
		return started.Embedded() || next.Embedded() || a.BaseURL != b.BaseURL || a.Project != b.Project ||
			a.Location != b.Location || a.SDK != b.SDK
	}
	return false
}

// asteriskKeys are the settings of Asterisk that change together.
func asteriskKeys() []string {
	return []string{"asterisk.user", "asterisk.password_file", "asterisk.ari_user", "asterisk.ari_password_file",
		"asterisk.ari_context", "asterisk.targets"}
}

const (
	toolsKey = "session.tools_file"
	allowKey = "webhooks.allow"
)

// toolsHeld reports whether the functions of settings need a restart: the net of calls has no place for any, an agent
// answers others than before, or a setting that they depend on needs one.
func (r *reloader) toolsHeld(next *settings.Settings) bool {
	s := r.serving
	return !s.toolSlots && (next.ToolsFile != "" || next.HandOff.Tool) ||
		!reflect.DeepEqual(s.settings.AgentTools, next.AgentTools) || r.changed(next, "timing.tool_timeout") ||
		r.allowHeld(next)
}

// allowHeld reports whether the private addresses of servers need a restart: they change together with the URL of a
// webhook, which needs one, and may suit only the other URL.
func (r *reloader) allowHeld(next *settings.Settings) bool {
	return r.changed(next, allowKey) && r.changed(next, "webhooks.begin_url", "webhooks.end_url", "webhooks.digits_url")
}

// changed reports whether one of the settings has changed since the start.
func (r *reloader) changed(next *settings.Settings, keys ...string) bool {
	return slices.ContainsFunc(r.serving.settings.Changes(next), func(c settings.Change) bool {
		return slices.Contains(keys, c.Key)
	})
}

// functions returns the functions of calls with other settings. Agents answer the same ones as before.
func (s *serving) functions(next *settings.Settings) (hookTools, error) {
	cfg, err := next.Gateway()
	if err != nil {
		return hookTools{}, err
	}
	all, err := s.webhooks.tools(next)
	if err != nil {
		return all, err
	}
	all.tools = slices.Concat(cfg.Tools, all.tools, s.agentTools)
	if err := voicegw.CheckTools(all.tools); err != nil {
		return all, fmt.Errorf("%s %s: %w", toolsKey, next.ToolsFile, err)
	}
	return all, nil
}

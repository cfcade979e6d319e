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
	greeting     string         // "" leaves the gateway without one
	tools        []voicegw.Tool // nil: those of the gateway
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
	done, later, err := r.take(next)
	switch {
	case err != nil:
		log.Error("the settings are wrong, so nothing changes", zap.Error(err))
		return
	case len(done) > 0:
		log.Info("settings changed for calls that begin from now on", zap.Strings("settings", done))
	case len(later) == 0:
		log.Info("no setting has changed")
	}
	if len(later) > 0 {
		log.Warn("these settings changed and need a restart", zap.Strings("settings", later))
	}
	for _, note := range next.Notes {
		log.Warn(note)
	}
}

// take checks every change first and then makes those that need no restart. It returns the keys of
// both kinds.
func (r *reloader) take(next *settings.Settings) (done, later []string, err error) {
	functions, err := r.serving.functions(next)
	if err != nil {
		return nil, nil, err
	}
	done, later = r.changes(next, functions)
	secrets, err := readSecrets(next)
	if err != nil {
		return nil, nil, err
	}
	servers, err := iceServers(next)
	if err != nil {
		return nil, nil, err
	}
	if e := r.serving.endpoints; e != nil && e.webrtc != nil {
		if err := e.webrtc.SetICEServers(servers); err != nil {
			return nil, nil, err
		}
	}
	if err := r.takeSecrets(secrets, func(key string) bool { return slices.Contains(done, key) }); err != nil {
		return nil, nil, err // which readSecrets and held rule out
	}
	r.level.SetLevel(next.Log.Level)
	clients, err := clientRules(next, r.serving.rules.Load().clients)
	if err != nil {
		return nil, nil, err
	}
	if !r.toolsHeld(next) {
		r.serving.takeTools(functions)
	}
	r.serving.takeRules(next, later, clients)
	r.now = next
	return done, later, nil
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

// reloadedSecrets are the secrets that a running gateway takes.
type reloadedSecrets struct {
	admin, authToken, carriers string
	access                     [][]byte
	hooks                      []byte // nil without webhooks.secret_file
}

// readSecrets reads and checks them.
func readSecrets(next *settings.Settings) (out reloadedSecrets, err error) {
	if out.admin, err = adminToken(next); err != nil {
		return out, err
	}
	admission, err := next.Access()
	if err != nil {
		return out, err
	}
	if _, err = access.New(admission); err != nil {
		return out, err
	}
	out.access = admission.Secrets
	if out.authToken, out.carriers, err = twilioSecrets(next); err == nil && next.Webhooks.SecretFile != "" {
		out.hooks, err = signingSecret(next, "")
	}
	return out, err
}

// takeSecrets replaces the secrets whose setting has changed.
func (r *reloader) takeSecrets(secrets reloadedSecrets, has func(key string) bool) error {
	s := r.serving
	if has("access.secret_file") {
		if err := s.guard.SetSecrets(secrets.access); err != nil {
			return fmt.Errorf("access.secret_file: %w", err)
		}
	}
	if has("admin.token_file") {
		r.admin.setToken(secrets.admin)
	}
	if has("twilio.auth_token_file") || has("twilio.secret_file") {
		if err := s.endpoints.twilio.SetSecrets(secrets.authToken, secrets.carriers); err != nil {
			return err
		}
	}
	if has("webhooks.secret_file") && secrets.hooks != nil {
		return s.webhooks.setSecret(secrets.hooks)
	}
	return nil
}

// held reports whether a change that a running gateway could take needs a restart because of others.
func (r *reloader) held(key string, next *settings.Settings) bool {
	started := r.serving.settings
	switch key {
	case "access.secret_file":
		return started.TokensRequired() != next.TokensRequired() || !r.serving.guard.WantsTokens()
	case "admin.token_file": // the listener that is open keeps its token: the next address may need none, but not this one
		return r.admin == nil || next.AdminTokenFile == "" && started.AdminListen != next.AdminListen
	case "twilio.auth_token_file", "twilio.secret_file": // who may call must not change with them
		a, b, e := started.Twilio, next.Twilio, r.serving.endpoints
		return e == nil || e.twilio == nil || (a.AuthTokenFile+a.SecretFile == "") != (b.AuthTokenFile+b.SecretFile == "")
	case toolsKey:
		return r.toolsHeld(next)
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

// toolsKey is the setting of the file of functions.
const toolsKey = "session.tools_file"

// toolsHeld reports whether the functions of settings need a restart: the net of calls has no place for any, an agent
// answers others than before, or a setting that they depend on needs one.
func (r *reloader) toolsHeld(next *settings.Settings) bool {
	s := r.serving
	depends := []string{"webhooks.allow", "timing.tool_timeout", "handoff.targets", "handoff.tool"}
	return !s.toolSlots && next.ToolsFile != "" || !reflect.DeepEqual(s.settings.AgentTools, next.AgentTools) ||
		slices.ContainsFunc(s.settings.Changes(next), func(c settings.Change) bool {
			return slices.Contains(depends, c.Key)
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

// takeTools changes the functions of calls that begin from now on.
func (s *serving) takeTools(functions hookTools) {
	rules := *s.rules.Load()
	rules.tools, s.hookSecrets = append([]voicegw.Tool{}, functions.tools...), functions.secrets
	s.rules.Store(&rules)
}

// takeRules changes what calls take from the settings when they begin, but for the settings of later.
func (s *serving) takeRules(next *settings.Settings, later []string, clients []clientRule) {
	rules := *s.rules.Load()
	sameModel := slices.Contains(later, "model.name") || slices.Contains(later, "model.key_file")
	if !slices.Contains(later, "rules") {
		rules.clients = clients
	}
	if !slices.Contains(later, "greeting") {
		rules.greeting = next.Greeting()
	}
	rules.setup.Voice, rules.setup.Language = next.Voice, next.Language
	rules.setup.Temperature, rules.setup.MaxOutputTokens = next.Model.Temperature, next.Model.LongestReply()
	rules.instructions = next.Instructions
	rules.setup.SystemInstruction = next.Instructions["default"]
	if !sameModel && !next.Embedded() && !s.settings.Embedded() {
		m := *s.model
		m.wire.Model, m.wire.APIKey = next.Model.Name, next.Wire().APIKey
		rules.dialer, rules.setup.Model = m.dialer(), next.Model.Name
	}
	s.rules.Store(&rules)
}

package settings

import (
	"fmt"
	"slices"
	"time"

	"github.com/voicegw/voicegw"
)

// Webhooks are the HTTP servers that take part in calls.
type Webhooks struct {
	SecretFile string   // signs all requests
	Allow      []string // private addresses, prefixes and hosts that they may have
	Begin      string   // the URL that decides whether a call begins; "": none
	Timeout    time.Duration
	Models     voicegw.Names // that it may choose
	BeginOpen  bool          // calls begin when it does not answer
	End        string        // the URL that gets the records of calls; "": none
	Digits     string        // the URL that gets the digits of protected input; "": none
}

// WebTool is a function of calls that an HTTP server answers.
type WebTool struct {
	voicegw.Tool
	URL        string
	Timeout    time.Duration // 0: that of the gateway
	SecretFile string        // "": that of Webhooks
}

func (s *Settings) webhookRows() []Row {
	w := &s.Webhooks
	const u = "an https URL, or an http one of a host in webhooks.allow"
	begin := func() bool { return w.Begin != "" }
	return []Row{
		secretRow("webhooks.secret_file", &w.SecretFile, "at least 16 bytes",
			"the secret that signs the requests to your HTTP servers (see docs/webhooks.md)").reloading(),
		listRow("webhooks.allow", &w.Allow, "addresses, prefixes and hosts such as 10.1.0.0/16",
			"private addresses that the servers of webhooks may have; otherwise they must be on the public network",
			func(l []string) bool { return !slices.Contains(l, "") }).reloading(),
		textRow("webhooks.begin_url", &w.Begin, "none", u,
			"the server that decides whether a call begins, with which instructions, functions and labels", isHTTP),
		timeRow("webhooks.begin_timeout", &w.Timeout, 5*time.Second, time.Second, 30*time.Second,
			"how long the server of webhooks.begin_url may take").onlyIf(begin, "webhooks.begin_url is none"),
		wordRow("webhooks.begin_failure", "refuse",
			"what happens to a call when webhooks.begin_url does not answer: it is refused as busy (refuse), or begins (allow)",
			[]string{"refuse", "allow"}, func(i int) { w.BeginOpen = i == 1 }).onlyIf(begin, "webhooks.begin_url is none"),
		namesRow("webhooks.begin_models", &w.Models, "none", "the models that the server of webhooks.begin_url may choose").
			onlyIf(begin, "webhooks.begin_url is none"),
		textRow("webhooks.end_url", &w.End, "none", u, "the server that gets the record of each call that has ended", isHTTP),
		textRow("webhooks.digits_url", &w.Digits, "none", u,
			"the server that gets what callers enter during protected input; without it the input goes nowhere", isHTTP),
	}
}

// checkWebhooks refuses webhooks without a secret that signs, and one for which no caller would wait.
func (r *reader) checkWebhooks() {
	w := &r.Webhooks
	if hello := r.gateway.WS.HelloTimeout; w.Begin != "" && w.Timeout >= hello {
		r.refuse("webhooks.begin_timeout", fmt.Sprintf("less than limits.hello_timeout (%v), which ends the call of a "+
			"caller who is not accepted by then", hello))
	}
	for key, url := range map[string]string{"webhooks.begin_url": w.Begin, "webhooks.end_url": w.End,
		"webhooks.digits_url": w.Digits} {
		if url != "" && w.SecretFile == "" {
			r.refuse(key, "webhooks.secret_file beside it; `openssl rand -hex 32` makes a secret")
		}
	}
}

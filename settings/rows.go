package settings

import (
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"go.uber.org/zap/zapcore"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/ws"
	"github.com/voicegw/voicegw/transport/wsconn"
	"github.com/voicegw/voicegw/voicenets"
)

// ListenDefault keeps the gateway to its own machine.
const ListenDefault = "127.0.0.1:8080"

func (s *Settings) serverRows() []Row {
	g := &s.gateway
	return []Row{
		textRow("listen", &s.Listen, ListenDefault, "HOST:PORT such as "+ListenDefault+"; port 0 takes any free one",
			"the address to listen on; without a host, every network of this machine", isAddress).literally(),
		listRow("hosts", &s.Hosts, `names or addresses without port, such as voice.example.com, or "*"`,
			"names by which callers may address the gateway, besides localhost and the address it listens on; * for any",
			func(l []string) bool { return ws.Config{Hosts: l}.Check() == nil }),
		listRow("origins", &s.Origins, `origins such as https://example.com, or "*"`,
			"other sites whose pages may call; * for any",
			func(l []string) bool { return ws.Config{Origins: l}.Check() == nil }),
		numberRow("calls_max", &g.CallsMax, 100, 1, 100_000, "calls at one time; the gateway refuses one more as busy"),
		boolRow("show_net", "true on a loopback address", "let a page watch the net of its own call",
			func(b bool) { s.showNet = &b }),
		directoryRow("archive", &s.Archive, "none", newDirectory,
			"where to write the events of each call, for voicegw replay; they hold no audio and no transcript").
			renamed("record"),
		wordRow("archive_loss", "end with session.consent, allow without",
			"what happens to a call whose archive cannot be written: it goes on (allow) or ends as record_lost (end)",
			[]string{"allow", "end"}, func(i int) {
				g.ArchiveLoss = []voicegw.ArchiveLoss{voicegw.ArchiveLossAllowed, voicegw.ArchiveLossEnds}[i]
			}).renamed("record_loss"),
		directoryRow("data_dir", &s.DataDir, "none", newDirectory,
			"where the sessions of agents are kept; with it, the sessions API is open (see docs/managed.md)"),
		directoryRow("agents", &s.Agents, "none", aDirectory, "a directory of definitions of agents, one in each "+
			"YAML or JSON file; needs data_dir or journal"),
		onRow("insecure", &s.Insecure,
			"allow a real key on an address that others can reach: anybody may talk at your expense"),
		onRow("reuse_port", &s.ReusePort, "let the next process listen on the same address before this one ends"),
		textRow("admin.listen", &s.AdminListen, "none", "HOST:PORT such as 127.0.0.1:9090",
			"where to serve /healthz, /readyz, /metrics (Prometheus) and the control of calls to the operator",
			func(a string) bool { return a == "" || isAddress(a) }),
		secretRow("admin.token_file", &s.AdminTokenFile, "at least 16 bytes",
			"the token that requests to admin.listen need; other machines may reach it only with one").reloading().
			onlyIf(func() bool { return s.AdminListen != "" }, "there is no admin.listen"),
	}
}

func (s *Settings) quotaRows() []Row {
	q := &s.Quota
	const bytesMin, bytesMax = 1 << 20, 1 << 50
	rows := []Row{
		numberRow("quota.sessions", &q.Sessions, 100_000, 1, 10_000_000,
			"sessions of agents that one tenant may have, those in the archive not counted"),
		numberRow("quota.bytes", &q.Bytes, 64<<30, bytesMin, bytesMax,
			"bytes that the sessions of one tenant may store; at the limit they take no more messages"),
		numberRow("quota.session_bytes", &q.SessionBytes, 256<<20, bytesMin, bytesMax,
			"bytes that one session may store; at the limit it takes no more messages"),
		numberRow("quota.events_per_second", &q.EventsPerSecond, 1000, 0, 1_000_000,
			"events that one tenant may send in a second; 0: no limit"),
	}
	for i, r := range rows {
		rows[i] = r.onlyIf(func() bool { return s.HasSessions() }, "there are no agents without data_dir or journal")
	}
	return rows
}

// nodeRows let several processes serve the sessions of agents.
func (s *Settings) nodeRows() []Row {
	j := &s.Journal
	return []Row{
		textRow("journal", &j.URL, "none", "nats://HOST:PORT (several with commas) or postgres://HOST/DATABASE, with "+
			"USER:PASSWORD@ if need be", "a server that keeps the sessions of agents, in place of data_dir", isJournal).hide(),
		numberRow("journal_replicas", &j.Replicas, 0, 1, 5,
			"how many servers of a NATS cluster keep each session: 1, 3 or 5; 0: 3 with cluster.listen, 1 without").orZero("0"),
		textRow("node", &j.Node, "the name of the machine and a random part",
			"up to 64 letters, digits, hyphens and underscores, with a letter or a digit at both ends",
			"the name of this process among those that serve the same sessions; with cluster.listen the same after a restart",
			isNode),
		textRow("advertise", &j.Advertise, "none", "an http or https URL such as http://10.0.0.7:8080",
			"where the other processes that serve the same sessions reach this one", isAdvertised),
		textRow("cluster.listen", &j.Listen, "none", "HOST:PORT such as 10.0.0.7:6222",
			"where the journals of the other nodes reach the one in data_dir; together they are one journal", isRoute),
		listRow("cluster.routes", &j.Routes, "HOST:PORT of each node", "the cluster.listen of all nodes",
			func(l []string) bool {
				return !slices.ContainsFunc(l, func(a string) bool { return a == "" || !isRoute(a) })
			}),
		fileRow("cluster.secret_file", &j.SecretFile, "none", "a file with a secret",
			"the secret that the nodes share; nodes with another one cannot join"),
	}
}

func (s *Settings) tlsRows() []Row {
	t := &s.TLS
	return []Row{
		fileRow("tls.cert_file", &t.CertFile, "none", "a certificate in PEM", "the certificate for https"),
		fileRow("tls.key_file", &t.KeyFile, "none", "the certificate's key in PEM", "the private key of tls.cert_file"),
		onRow("tls.self_signed", &t.SelfSigned,
			"serve https with a certificate made here, so that a phone's page may use its microphone; the browser warns once"),
		listRow("tls.acme_hosts", &t.ACME.Hosts, "names such as voice.example.com",
			"names to get certificates for, from Let's Encrypt or another authority; port 443 of each must lead here", areNames),
		textRow("tls.acme_email", &t.ACME.Email, "none", "an email address",
			"the address for notices from the authority", nil),
		textRow("tls.acme_directory", &t.ACME.Directory, "Let's Encrypt's", "an https URL",
			"another authority's directory (ACME, RFC 8555)",
			func(u string) bool { return u == "" || strings.HasPrefix(u, "https://") }),
		fileRow("tls.acme_ca_file", &t.ACME.CAFile, "the system's", "certificates in PEM",
			"certificates to trust in connections to that authority"),
		directoryRow("tls.acme_cache", &t.ACME.Folder, "acme in your cache directory", newDirectory,
			"where to keep certificates and their keys"),
	}
}

func (s *Settings) modelRows() []Row {
	m := &s.Model
	return []Row{
		textRow("model.name", &m.Name, live.DefaultModel+", or parrot without a key",
			"the name of a Live model; parrot is the embedded one", "the model; parrot is the embedded one", nil).reloading(),
		textRow("model.base_url", &m.BaseURL, "Google's", "a ws, wss, http or https URL",
			"the address of the model's service", nil),
		fileRow("model.key_file", &m.KeyFile, "none", "a file with nothing but a key of the Gemini API",
			"a file with the API key, in place of GEMINI_API_KEY").reloading(),
		wordRow("model.dialer", "wire",
			"the client that connects to the model: voicegw's own (wire), or Google's library (sdk), "+
				"which costs more and can do less", []string{"wire", "sdk"}, func(i int) { m.SDK = i == 1 }),
		temperatureRow("model.temperature", &m.Temperature),
		numberRow("model.max_output_tokens", &m.MaxOutputTokens, 0, 1, maxOutputTokens,
			"the longest reply, in tokens; 0: as the model has it").orZero("0").reloading(),
		textRow("vertex.project", &m.Project, "none", `a project such as "my-project"`,
			"the Google Cloud project that pays for a model of Vertex AI; needs application default credentials, not a key",
			nil),
		textRow("vertex.location", &m.Location, "none", `a location such as "europe-west4" or "global"`,
			"the region in which the project's models run", nil),
		textRow("voice", &s.Voice, "the model's", "a voice such as Puck", "the voice of the model", nil).reloading(),
		textRow("language", &s.Language, "the model's", "a BCP 47 tag such as de-DE",
			"the language of a call whose hello names none", nil).reloading(),
		s.greetingRow(),
		s.instructionsRow(),
		fileRow("rules", &s.RulesFile, "none", "a YAML file with a list of rules",
			"instructions, voice, model, functions and limits of the calls of a tenant, a number, an endpoint or a client (see "+
				"docs/rules.md)").reloading(),
		wordRow("detection", "gateway", "what detects speech if the hello does not say: the gateway or the model",
			[]string{"gateway", "model"}, func(i int) {
				s.gateway.Detection = []voicenets.Detection{voicenets.GatewayVAD, voicenets.ModelVAD}[i]
			}).oldValues(map[string]string{"manual": "gateway", "server": "model"}),
	}
}

// maxOutputTokens is the most that model.max_output_tokens can be.
const maxOutputTokens = 1 << 20

// temperatureRow is the temperature of the model; without a value it is the model's own.
func temperatureRow(key string, to **float32) Row {
	r := textRow(key, new(string), "the model's", "a number from 0 to 2, such as 0.7",
		"how freely the model chooses its words: 0 is the same words each time", nil).reloading()
	r.numeric, r.store = true, func(v value) bool {
		*to = nil
		if v.text == "" {
			return true
		}
		f, err := strconv.ParseFloat(v.text, 32)
		t := float32(f)
		*to = &t
		return err == nil && (&live.Setup{Temperature: &t}).Check() == nil
	}
	return r
}

// greetingBytesMax is the longest greeting.
const greetingBytesMax = 4000

// Greeting returns the request that makes the model speak first, "" if there is none.
func (s *Settings) Greeting() string {
	switch {
	case s.greeting != nil:
		return *s.greeting
	case s.Embedded():
		return greetingDefault
	}
	return ""
}

func (s *Settings) greetingRow() Row {
	r := textRow("greeting", new(string), "Greet the caller. (embedded model), none (others)",
		"at most 4000 bytes of text, or nothing",
		"a request to the model that makes it speak first; empty lets the caller begin", nil)
	r.Reloads = true
	r.Max, r.store = strconv.Itoa(greetingBytesMax), func(v value) bool {
		s.greeting = &v.text
		return len(v.text) <= greetingBytesMax && utf8.ValidString(v.text)
	}
	return r
}

// instructionsRow takes a map of texts, or one text as the default.
func (s *Settings) instructionsRow() Row {
	r := textRow("instructions", new(string), "none",
		"a text, or a map from names of 1 to 64 bytes to texts of at most 64 KiB",
		"system instructions: a text, or texts by name; a hello may ask for one by its name, and gets default if it asks "+
			"for none", nil)
	r.mapped, r.Reloads, r.store = true, true, func(v value) bool {
		texts := v.texts
		if texts == nil {
			texts = map[string]string{instructionsDefault: v.text}
		}
		for name, text := range texts {
			if name == "" || len(name) > transport.InstructionsLenMax || len(text) > textBytesMax || !utf8.ValidString(text) {
				return false
			}
			if s.Instructions == nil {
				s.Instructions = map[string]string{}
			}
			s.Instructions[name] = text
		}
		return true
	}
	return r
}

// instructionsDefault is the name of the instructions of a hello that names none.
const instructionsDefault = "default"

func (s *Settings) speechRows() []Row {
	const windowMax, hangoverMax = 64, 500
	a := &s.gateway.Activity
	return []Row{
		scoreRow("speech.threshold", &a.Threshold, "0.5", "a frame of 20 ms with a higher score counts as speech"),
		scoreRow("speech.raised_threshold", &a.RaisedThreshold, "1.0", "the threshold during a reply, which may echo"),
		numberRow("speech.start_frames", &a.StartFrames, 3, 1, windowMax,
			"how many of the last start_window frames must be speech for speech to begin"),
		numberRow("speech.start_window", &a.StartWindow, 4, 1, windowMax, "the window of start_frames, in frames"),
		numberRow("speech.raised_start_frames", &a.RaisedStartFrames, 3, 1, windowMax,
			"replaces start_frames during a reply"),
		numberRow("speech.confirm_frames", &a.ConfirmFrames, 15, 1, windowMax,
			"how many of the last confirm_window frames must be speech to confirm an interruption"),
		numberRow("speech.confirm_window", &a.ConfirmWindow, 30, 1, windowMax, "the window of confirm_frames, in frames"),
		numberRow("speech.stop_frames", &a.StopFrames, 25, 1, hangoverMax,
			"speech ends after this many frames without speech"),
	}
}

func (s *Settings) limitRows() []Row {
	const ms, second = time.Millisecond, time.Second
	g, l := &s.gateway, &s.Limits
	w := &g.WS
	return []Row{
		timeRow("limits.dial_timeout", &s.Model.DialTimeout, 15*second, 100*ms, 2*time.Minute,
			"how long the model may take to accept a call"),
		timeRow("limits.hello_timeout", &w.HelloTimeout, wsconn.HelloTimeoutDefault, 100*ms, 10*time.Minute,
			"how long a caller may take from the connection to the hello"),
		timeRow("limits.write_timeout", &w.WriteTimeout, wsconn.WriteTimeoutDefault, 100*ms, time.Minute,
			"how long one message to a peer may take; then the peer counts as stalled"),
		timeRow("limits.ping_interval", &w.PingInterval, wsconn.PingIntervalDefault, second, 10*time.Minute,
			"how often the gateway pings its peers"),
		timeRow("limits.idle_timeout", &w.IdleTimeout, wsconn.IdleTimeoutDefault, second, 24*time.Hour,
			"a call ends after this long without a message from the peer"),
		numberRow("limits.message_bytes_max", &w.MessageBytesMax, wsconn.MessageBytesMaxDefault, 4<<10, 16<<20,
			"the longest message from a peer, in bytes"),
		timeRow("limits.resume_within", &l.ResumeWithin, ws.ResumeWithinDefault, 0, 5*time.Minute,
			"how long a call waits for a page or a Gemini client whose connection broke; 0: not at all"),
		timeRow("limits.shutdown_timeout", &l.ShutdownTimeout, 10*second, second, 10*time.Minute,
			"how long calls may take to end when the gateway shuts down"),
		timeRow("limits.drain_delay", &l.DrainDelay, 0, 0, 5*time.Minute,
			"how long the gateway still takes calls after SIGTERM, while /readyz already answers 503"),
		timeRow("limits.drain_limit", &l.DrainLimit, 15*second, 0, 24*time.Hour,
			"after limits.drain_delay, how long calls may go on; in the last 70s of it they end at a quiet moment"),
		numberRow("limits.typed_per_minute", &g.TypedPerMinute, 20, 1, 6_000,
			"texts and entries of digits that a caller may type in a call: as many at once, then evenly"),
		numberRow("limits.handshakes_max", &g.HandshakesMax, 256, 1, 100_000,
			"callers at one time that have not sent their hello; they hold no line, and one more displaces the oldest of the "+
				"address that has the most"),
		numberRow("limits.handshakes_per_address", &g.HandshakesPerAddress, 64, 1, 100_000,
			"limits.handshakes_max for one network address; behind a proxy: as many as limits.handshakes_max"),
		numberRow("limits.connections_per_address", &l.ConnectionsPerAddress, 0, 0, 200_000,
			"connections of one network address at one time, its calls included; 0: calls_max and 128"),
	}
}

func (s *Settings) logRows() []Row {
	levels := []zapcore.Level{zapcore.DebugLevel, zapcore.InfoLevel, zapcore.WarnLevel, zapcore.ErrorLevel}
	formats := []string{"text", "json"}
	return []Row{
		wordRow("log.level", "info", "the lowest level that is logged", []string{"debug", "info", "warn", "error"},
			func(i int) { s.Log.Level = levels[i] }).reloading(),
		wordRow("log.format", "text", "lines for people (text) or for machines (json)", formats,
			func(i int) { s.Log.Format = formats[i] }),
	}
}

func isAddress(s string) bool {
	_, port, err := net.SplitHostPort(s)
	if err != nil {
		return false
	}
	_, err = strconv.ParseUint(port, 10, 16)
	return err == nil
}

// areNames reports whether certificates can be issued for all names.
func areNames(list []string) bool {
	return !slices.ContainsFunc(list, func(s string) bool {
		return !strings.Contains(s, ".") || strings.ContainsAny(s, "*:/ ") || net.ParseIP(s) != nil
	})
}

func isHTTP(s string) bool {
	u, err := url.Parse(s)
	return s == "" || err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

func isHTTPS(s string) bool { return s == "" || isHTTP(s) && strings.HasPrefix(s, "https:") }

// isJournal reports whether a text is the address of a journal.
func isJournal(s string) bool {
	if s == "" {
		return true
	}
	list := strings.Split(s, ",")
	for _, one := range list {
		u, err := url.Parse(one)
		switch {
		case err != nil:
			return false
		case u.Scheme == "nats" && u.Host != "":
		case len(list) == 1 && (u.Scheme == "postgres" || u.Scheme == "postgresql"):
		default:
			return false
		}
	}
	return true
}

// isNode reports whether a text is the name of a node, or nothing.
func isNode(s string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	return s == "" || len(s) <= 64 && strings.Trim(s, letters+"_-") == "" && strings.Trim(s, "_-") == s
}

func isAdvertised(s string) bool {
	u, err := url.Parse(s)
	return s == "" || isHTTP(s) && err == nil && u.User == nil
}

// isRoute reports whether others can connect to an address, or it is nothing.
func isRoute(s string) bool {
	host, _, _ := net.SplitHostPort(s)
	return s == "" || isAddress(s) && host != "" && !strings.HasSuffix(s, ":0")
}

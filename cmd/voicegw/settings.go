package main

import (
	"net"
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
	"github.com/voicegw/voicegw/voicenets"
)

// Defaults that are used in more than one place.
const (
	listenDefault   = "127.0.0.1:8080" // keeps the gateway to this machine
	callsMaxDefault = 100
)

// settings are all keys, in the order of docs/configuration.md.
func settings() []setting {
	return slices.Concat(doorSettings(), doorsSettings(), accessSettings(), modelSettings(), timingSettings(),
		sessionSettings(), speechSettings(), limitSettings(), logSettings())
}

func doorSettings() []setting {
	return []setting{
		textSetting("listen", listenDefault, "HOST:PORT such as "+listenDefault+"; port 0 takes any free one",
			"where to listen; without a host, on every network of this machine",
			func(o *options) *string { return &o.listen }, isAddress),
		listSetting("hosts", `names or addresses without port, such as voice.example.com, or "*"`,
			"names under which the gateway may be addressed besides localhost and the address it listens on; * for any",
			func(o *options) *[]string { return &o.hosts },
			func(l []string) bool { return ws.Config{Hosts: l}.Check() == nil }),
		listSetting("origins", `origins such as https://example.com, or "*"`,
			"other sites whose pages may call; * for any",
			func(o *options) *[]string { return &o.origins },
			func(l []string) bool { return ws.Config{Origins: l}.Check() == nil }),
		numberSetting("calls_max", callsMaxDefault, 1, 100_000, "calls at one time; one more is told that it is busy",
			func(o *options) *int { return &o.callsMax }),
		boolSetting("show_net", "true on a loopback address", "let a page see the net of its own call move",
			func(o *options, b bool) { o.showNet = &b }),
		textSetting("record", "none", "the path of a directory, which is made if it is not there",
			"where to write the events of each call, for voicegw replay; neither audio nor words are among them",
			func(o *options) *string { return &o.record }, canBeDirectory),
		choiceSetting("record_loss", "end with session.consent, allow without", "what becomes of a call whose record cannot "+
			"be written: it goes on (allow) or ends as record_lost (end)", []string{"allow", "end"},
			func(o *options, i int) {
				o.recordLoss = []voicegw.RecordLoss{voicegw.RecordLossAllowed, voicegw.RecordLossEnds}[i]
			}),
		boolSetting("insecure", "false", "allow a real key behind an address that others can reach: anybody may talk at "+
			"your expense", func(o *options, b bool) { o.insecure = b }),
		textSetting("tls.cert_file", "none", "the path of a certificate in PEM", "certificate for https",
			func(o *options) *string { return &o.tls.certFile }, nil),
		textSetting("tls.key_file", "none", "the path of the certificate's key in PEM", "its private key",
			func(o *options) *string { return &o.tls.keyFile }, nil),
		boolSetting("tls.self_signed", "false", "https with a certificate made here, so that a phone may use its "+
			"microphone; its browser warns once", func(o *options, b bool) { o.tls.selfSigned = b }),
		listSetting("tls.acme_hosts", "names such as voice.example.com", "names for which certificates are got "+
			"automatically, from Let's Encrypt or another authority; port 443 of each must lead here",
			func(o *options) *[]string { return &o.tls.acme.hosts }, areNames),
		textSetting("tls.acme_email", "none", "an address of electronic mail", "where the authority may write to",
			func(o *options) *string { return &o.tls.acme.email }, nil),
		textSetting("tls.acme_directory", "Let's Encrypt's", "an https URL", "another authority's directory (ACME, RFC 8555)",
			func(o *options) *string { return &o.tls.acme.directory },
			func(s string) bool { return s == "" || strings.HasPrefix(s, "https://") }),
		textSetting("tls.acme_ca_file", "the system's", "the path of certificates in PEM",
			"whom to trust when talking to that authority", func(o *options) *string { return &o.tls.acme.caFile }, nil),
		textSetting("tls.acme_cache", "acme in your cache directory",
			"the path of a directory, which is made if it is not there", "where certificates and their keys are kept",
			func(o *options) *string { return &o.tls.acme.cacheIn }, canBeDirectory),
		boolSetting("reuse_port", "false", "let the next process listen on the same address before this one ends",
			func(o *options, b bool) { o.reusePort = b }),
		textSetting("admin.listen", "none", "HOST:PORT on this machine, such as 127.0.0.1:9090",
			"where to tell whoever runs the gateway how it is: /healthz, /readyz and /metrics (Prometheus)",
			func(o *options) *string { return &o.adminListen },
			func(s string) bool { return s == "" || isAddress(s) && loopback(s) }),
	}
}

// areNames reports whether certificates can be had for all names.
func areNames(list []string) bool {
	return !slices.ContainsFunc(list, func(s string) bool {
		return !strings.Contains(s, ".") || strings.ContainsAny(s, "*:/ ") || net.ParseIP(s) != nil
	})
}

func modelSettings() []setting {
	return []setting{
		textSetting("model.name", live.DefaultModel+", or parrot without a key",
			"the name of a Live model; parrot is the embedded one", "the model; parrot is the embedded one",
			func(o *options) *string { return &o.model.name }, nil),
		textSetting("model.base_url", "Google's", "a ws, wss, http or https URL", "where the model's service is",
			func(o *options) *string { return &o.model.baseURL }, nil),
		textSetting("model.key_file", "none", "the path of a file with nothing but a key of the Gemini API",
			"a file with the API key, in place of GEMINI_API_KEY",
			func(o *options) *string { return &o.model.keyFile }, nil),
		choiceSetting("model.dialer", "wire", "who speaks with the model: voicegw itself (wire), or Google's client library "+
			"(sdk), which costs more and can less", []string{"wire", "sdk"},
			func(o *options, i int) { o.model.sdk = i == 1 }),
		textSetting("vertex.project", "none", `a project such as "my-project"`,
			"the Google Cloud project that pays: models of Vertex AI, by the application default credentials, in place of "+
				"the Gemini API and its key", func(o *options) *string { return &o.model.project }, nil),
		textSetting("vertex.location", "none", `a location such as "europe-west4" or "global"`,
			"the region in which the project's models run", func(o *options) *string { return &o.model.location }, nil),
		textSetting("voice", "the model's", "a voice such as Puck", "the voice the model speaks with",
			func(o *options) *string { return &o.voice }, nil),
		textSetting("language", "the model's", "a BCP 47 tag such as de-DE",
			"the language of calls whose hello names none", func(o *options) *string { return &o.language }, nil),
		{key: "greeting", kind: "text", def: "Greet the caller. (embedded model), none (others)",
			want: "at most 4000 bytes of text, or nothing", store: storeGreeting,
			doc: "the request, in words for the model, that makes it speak first; empty lets the caller begin"},
		{key: "instructions", kind: "text", def: "none",
			want: "a text, or a map from names of 1 to 64 bytes to texts of at most 64 KiB", store: storeInstructions,
			doc: "system instructions: a text, or texts by the names a hello may ask for; default is used when it asks " +
				"for none"},
		choiceSetting("detection", "manual", "who detects speech when the hello leaves it open: the gateway (manual) or "+
			"the model (server)", []string{"manual", "server"},
			func(o *options, i int) { o.detection = []voicenets.Detection{voicenets.Manual, voicenets.Server}[i] }),
	}
}

func timingSettings() []setting {
	return []setting{
		framesSetting("timing.budget", 20, 1, 100, "audio handed to a peer and not yet acknowledged, at most",
			func(o *options) *int { return &o.timing.BudgetFrames }),
		framesSetting("timing.reply_max", 15_000, 1, 60_000, "audio of a reply that may wait in the gateway",
			func(o *options) *int { return &o.timing.ReplyFramesMax }),
		framesSetting("timing.pre_roll", 15, 1, 25, "what is kept of the time before speech was noticed",
			func(o *options) *int { return &o.timing.PreRollFrames }),
		timeSetting("timing.confirm_window", 600*time.Millisecond, 100*time.Millisecond, 900*time.Millisecond,
			"how long a paused reply waits for speech to be confirmed before it goes on",
			func(o *options) *time.Duration { return &o.timing.ConfirmWindow }),
		timeSetting("timing.frame_gap", 300*time.Millisecond, 150*time.Millisecond, 2*time.Second,
			"how long without microphone audio ends speech",
			func(o *options) *time.Duration { return &o.timing.FrameGap }),
		timeSetting("timing.late_audio", 300*time.Millisecond, 50*time.Millisecond, 5*time.Second,
			"how long after the caller's turn audio of an interrupted reply may still come and is dropped",
			func(o *options) *time.Duration { return &o.timing.LateAudio }),
		timeSetting("timing.ack_timeout", 2*time.Second, 500*time.Millisecond, 30*time.Second,
			"after its end, audio that nobody acknowledged counts as played",
			func(o *options) *time.Duration { return &o.timing.AckTimeout }),
		timeSetting("timing.owed_timeout", 3*time.Second, 500*time.Millisecond, time.Minute,
			"how long the end of an earlier model turn is waited for",
			func(o *options) *time.Duration { return &o.timing.OwedTimeout }),
		timeSetting("timing.silent_turn", 5*time.Second, time.Second, time.Minute,
			"ends a reply whose model fell silent without saying so",
			func(o *options) *time.Duration { return &o.timing.SilentTurn }),
		timeSetting("timing.call_max", 30*time.Minute, time.Second, 24*time.Hour, "the longest a call may last",
			func(o *options) *time.Duration { return &o.timing.MaxDuration }),
	}
}

func speechSettings() []setting {
	const windowMax, hangoverMax = 64, 500
	return []setting{
		scoreSetting("speech.threshold", "0.5", "a frame of 20 ms that scores more counts as speech",
			func(o *options) *float64 { return &o.speech.Threshold }),
		scoreSetting("speech.raised_threshold", "1.0", "the threshold while a reply is heard, which may echo",
			func(o *options) *float64 { return &o.speech.RaisedThreshold }),
		numberSetting("speech.start_frames", 3, 1, windowMax, "so many frames of speech among ...",
			func(o *options) *int { return &o.speech.StartFrames }),
		numberSetting("speech.start_window", 4, 1, windowMax, "... the last so many begin speech",
			func(o *options) *int { return &o.speech.StartWindow }),
		numberSetting("speech.raised_start_frames", 3, 1, windowMax, "used in place of start_frames while a reply is heard",
			func(o *options) *int { return &o.speech.RaisedStartFrames }),
		numberSetting("speech.confirm_frames", 15, 1, windowMax, "so many frames of speech among ...",
			func(o *options) *int { return &o.speech.ConfirmFrames }),
		numberSetting("speech.confirm_window", 30, 1, windowMax, "... the last so many confirm an interruption",
			func(o *options) *int { return &o.speech.ConfirmWindow }),
		numberSetting("speech.stop_frames", 25, 1, hangoverMax, "so many frames without speech end it",
			func(o *options) *int { return &o.speech.StopFrames }),
	}
}

func limitSettings() []setting {
	const second = time.Second
	return []setting{
		timeSetting("limits.dial_timeout", 15*second, 100*time.Millisecond, 2*time.Minute,
			"until the model accepted a call", func(o *options) *time.Duration { return &o.limits.dialTimeout }),
		timeSetting("limits.hello_timeout", ws.HelloTimeoutDefault, 100*time.Millisecond, 10*time.Minute,
			"from the connection to the hello", func(o *options) *time.Duration { return &o.limits.helloTimeout }),
		timeSetting("limits.write_timeout", ws.WriteTimeoutDefault, 100*time.Millisecond, time.Minute,
			"of one message to a peer; then it is stalled",
			func(o *options) *time.Duration { return &o.limits.writeTimeout }),
		timeSetting("limits.ping_interval", ws.PingIntervalDefault, second, 10*time.Minute, "how often peers are pinged",
			func(o *options) *time.Duration { return &o.limits.pingInterval }),
		timeSetting("limits.idle_timeout", ws.IdleTimeoutDefault, second, 24*time.Hour, "without a message from the peer",
			func(o *options) *time.Duration { return &o.limits.idleTimeout }),
		numberSetting("limits.message_bytes_max", ws.MessageBytesMaxDefault, 4<<10, 16<<20, "of a message from a peer",
			func(o *options) *int { return &o.limits.messageBytesMax }),
		timeSetting("limits.shutdown_timeout", 10*second, second, 10*time.Minute,
			"for the calls to end after a signal to stop, when they were told to",
			func(o *options) *time.Duration { return &o.limits.shutdownTimeout }),
		timeSetting("limits.drain_delay", 0, 0, 5*time.Minute, "after SIGTERM, from /readyz saying no until no more calls "+
			"are taken", func(o *options) *time.Duration { return &o.limits.drainDelay }),
		timeSetting("limits.drain_limit", 15*second, 0, 24*time.Hour, "after that, for running calls to come to their "+
			"end; in the last 70s of it they take leave at a quiet moment",
			func(o *options) *time.Duration { return &o.limits.drainLimit }),
		numberSetting("limits.typed_per_minute", 20, 1, 6_000, "texts and entries of digits that a caller types in a call: "+
			"as many at once, then evenly", func(o *options) *int { return &o.limits.typedPerMinute }),
		numberSetting("limits.handshakes_max", 256, 1, 100_000, "callers at one time whose hello is still to come; they "+
			"hold no line, and one more pushes out the oldest of the address that has the most",
			func(o *options) *int { return &o.limits.handshakesMax }),
		numberSetting("limits.handshakes_per_address", 64, 1, 100_000, "of them, of one network address; behind a proxy: "+
			"as many as handshakes_max", func(o *options) *int { return &o.limits.handshakesPerAddress }),
		numberSetting("limits.connections_per_address", 0, 0, 200_000, "connections of one network address at one time, "+
			"calls among them; 0: calls_max and 128", func(o *options) *int { return &o.limits.connectionsPerAddress }),
	}
}

func logSettings() []setting {
	levels := []zapcore.Level{zapcore.DebugLevel, zapcore.InfoLevel, zapcore.WarnLevel, zapcore.ErrorLevel}
	formats := []string{"text", "json"}
	return []setting{
		choiceSetting("log.level", "info", "what is logged, at least", []string{"debug", "info", "warn", "error"},
			func(o *options, i int) { o.log.level = levels[i] }),
		choiceSetting("log.format", "text", "how: lines for people, or for machines", formats,
			func(o *options, i int) { o.log.format = formats[i] }),
	}
}

func storeGreeting(o *options, v value) bool {
	o.greeting = &v.text
	return len(v.text) <= 4000 && utf8.ValidString(v.text)
}

// storeInstructions takes a map of texts, or one text as the default.
func storeInstructions(o *options, v value) bool {
	texts := v.texts
	if texts == nil {
		texts = map[string]string{defaultInstructions: v.text}
	}
	for name, text := range texts {
		if name == "" || len(name) > transport.InstructionsLenMax || len(text) > textBytesMax || !utf8.ValidString(text) {
			return false
		}
		if o.instructions == nil {
			o.instructions = map[string]string{}
		}
		o.instructions[name] = text
	}
	return true
}

// defaultInstructions is the name of the instructions of a hello that names none.
const defaultInstructions = "default"

func isAddress(s string) bool {
	_, port, err := net.SplitHostPort(s)
	if err != nil {
		return false
	}
	_, err = strconv.ParseUint(port, 10, 16)
	return err == nil
}

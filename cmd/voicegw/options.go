package main

import (
	"time"

	"go.uber.org/zap/zapcore"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/access"
	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/voicenets"
)

// options are the settings of serve as values.
type options struct {
	listen          string
	hosts, origins  []string
	callsMax        int
	model           modelOptions
	voice, language string
	greeting        *string // nil: as the model asks for
	instructions    map[string]string
	detection       voicenets.Detection
	timing          voicenets.Config
	session         sessionOptions
	doors           doorOptions
	speech          audio.ActivityConfig
	limits          limitOptions
	showNet         *bool  // nil: on loopback
	record          string // a directory; "": no call is recorded
	recordLoss      voicegw.RecordLoss
	log             logOptions
	tls             tlsOptions
	insecure        bool
	reusePort       bool
	adminListen     string // "": no admin listener
	access          accessOptions
	notes           []string // for who starts it
}

type modelOptions struct {
	name, baseURL, keyFile string
	key                    string // of GEMINI_API_KEY or the file; not used with a project
	project, location      string // of Vertex AI; "": the Gemini API
	sdk                    bool   // Google's client library speaks
}

type limitOptions struct {
	dialTimeout, helloTimeout, writeTimeout, pingInterval, idleTimeout, shutdownTimeout time.Duration
	drainDelay, drainLimit                                                              time.Duration
	messageBytesMax                                                                     int
	handshakesMax, handshakesPerAddress, typedPerMinute                                 int
	connectionsPerAddress                                                               int // 0: most of them
}

type logOptions struct {
	level  zapcore.Level
	format string // text or json
}

type tlsOptions struct {
	certFile, keyFile string
	selfSigned        bool
	acme              acmeOptions
}

// on reports whether the server speaks TLS.
func (t tlsOptions) on() bool { return t.selfSigned || t.certFile != "" || len(t.acme.hosts) > 0 }

// newOptions are the defaults.
func newOptions(table []setting) *options {
	o := &options{listen: listenDefault, log: logOptions{format: "text"}}
	o.access.audience = access.AudienceDefault
	for _, s := range table {
		if s.kind == "number" || s.kind == "time" {
			s.store(o, value{text: s.def})
		}
	}
	return o
}

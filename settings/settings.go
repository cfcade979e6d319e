package settings

import (
	"crypto/sha256"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap/zapcore"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/access"
	"github.com/voicegw/voicegw/voicenets"
)

// Settings is a configuration: what its sources say, and the defaults of everything else. Load and
// Read return one that is checked. A Settings must not be copied.
type Settings struct {
	Listen       string // HOST:PORT
	AdminListen  string // HOST:PORT; "": no admin listener
	Hosts        []string
	Origins      []string
	ReusePort    bool
	Insecure     bool
	Archive      string // the directory for the archives of calls; "": none are written
	Records      Records
	Telemetry    Telemetry
	DataDir      string // the directory for the sessions of agents
	Journal      Journal
	Agents       string // the directory of definitions of agents; "": none
	Quota        Quota
	Skills       string // the directory of skills of agents; "": none
	Prices       string // the file with the prices of models; "": none
	MCP          MCP
	Workflow     Workflow
	TLS          TLS
	Endpoints    []string // those open besides /v1/voice: some of EndpointNames
	WebRTC       WebRTC
	Twilio       Twilio
	Asterisk     Asterisk
	Model        Model
	Voice        string
	Language     string // BCP 47
	Instructions map[string]string
	RulesFile    string // the path of the file with Rules; "": none
	Rules        []Rule // the first that takes a call counts
	ToolsFile    string
	AgentTools   []AgentTool // of ToolsFile; Gateway sets them
	WebTools     []WebTool   // the same
	Webhooks     Webhooks
	AfterCall    AfterCall
	HandOff      HandOff
	Limits       Limits
	Log          Log
	Notes        []string // for the person who starts the gateway: settings without effect, readable secrets

	greeting *string // nil: as the model needs it
	showNet  *bool   // nil: on a loopback address
	prompts  [promptCount]string
	gateway  voicegw.Config // the rest of its fields is filled in by Gateway
	access   accessSettings
	rows     []Row
	given    map[string]string            // the values of sources by key, those that are defaults excepted
	files    map[string][sha256.Size]byte // by key: the contents of the files that they name

	// AdminTokenFile holds the token that requests to AdminListen need; "": they need none, and the
	// address is a loopback one.
	AdminTokenFile string
}

// AfterCall says which agent works after a call.
type AfterCall struct {
	Agent       string // its name; "": none
	Transcripts bool   // it learns what was said
}

// Quota is what one tenant of the sessions API may use.
type Quota struct {
	Sessions        int   // that are not archived
	Bytes           int64 // of all its sessions
	SessionBytes    int64 // of one session
	EventsPerSecond int   // 0: no limit
}

// Journal says where the sessions of agents are kept if not in Settings.DataDir alone, and which process
// serves them.
type Journal struct {
	URL             string // "": they are in DataDir. It may hold a password
	Replicas        int    // 0: 3 with Listen, 1 without
	Node, Advertise string // Advertise is "": no other process serves the sessions
	Listen          string // HOST:PORT of the journal in DataDir for those of other nodes; "": there are none
	Routes          []string
	SecretFile      string
}

// HasSessions reports whether the sessions API is open.
func (s *Settings) HasSessions() bool { return s.DataDir != "" || s.Journal.URL != "" }

// TLS says how the gateway gets its certificate.
type TLS struct {
	CertFile, KeyFile string
	SelfSigned        bool
	ACME              ACME
}

// On reports whether the server speaks TLS.
func (t *TLS) On() bool { return t.SelfSigned || t.CertFile != "" || len(t.ACME.Hosts) > 0 }

// ACME gets certificates from an authority (RFC 8555).
type ACME struct {
	Hosts                            []string
	Email, Directory, CAFile, Folder string
}

// Model is the model and its service.
type Model struct {
	Name, BaseURL, KeyFile string
	Key                    string // of GEMINI_API_KEY or KeyFile; not used with Project
	Project, Location      string // of Vertex AI; "": the Gemini API
	SDK                    bool   // dial with Google's client library
	Temperature            *float32
	MaxOutputTokens        int // of a reply; 0: as the model has it
	DialTimeout            time.Duration
}

// WebRTC holds the settings of the WebRTC endpoint.
type WebRTC struct {
	Listen            string // UDP; "": the host of Settings.Listen, any free port
	PublicIPs         []string
	ICEServers        []string // STUN
	TURN              TURN
	FullICE           bool
	PrivateCandidates bool // FullICE may try private addresses
	OneWay            bool
}

// TURN says which relays callers are given, and by which credentials: those of a user, or a secret that
// the relays share.
type TURN struct {
	Servers                              []string
	Username, CredentialFile, SecretFile string
}

// Twilio holds the settings of the media stream endpoint.
type Twilio struct {
	AuthTokenFile, SecretFile, PublicURL, AfterURL string
	OwnTwiML                                       bool
	Targets                                        []string // name=number
}

// Asterisk holds the settings of the Asterisk endpoint.
type Asterisk struct {
	User, PasswordFile                           string
	ARIURL, ARIUser, ARIPasswordFile, ARIContext string
	Targets                                      []string // name=extension
}

// Limits are those of the server; voicegw.Config and ws.Config hold the others.
type Limits struct {
	ShutdownTimeout, DrainDelay, DrainLimit time.Duration
	ResumeWithin                            time.Duration // 0: calls cannot be resumed
	ConnectionsPerAddress                   int           // 0: most of them
}

// Log says what is logged and how.
type Log struct {
	Level  zapcore.Level
	Format string // text or json
}

// accessSettings say who may call.
type accessSettings struct {
	access.Config
	secretFile, jwks string
	cpuPercentMax    int
	load             access.LoadConfig
}

// EndpointNames returns the endpoints that a configuration can open besides /v1/voice.
func EndpointNames() []string {
	return []string{"webrtc", "gemini", "openai", "rtvi", "twilio", "asterisk"}
}

// newSettings returns the defaults.
func newSettings() *Settings {
	s := &Settings{}
	s.rows = slices.Concat(s.serverRows(), s.recordRows(), s.telemetryRows(), s.nodeRows(), s.quotaRows(), s.agentRows(),
		s.workflowRows(), s.tlsRows(), s.endpointRows(), s.accessRows(), s.handOffRows(), s.webhookRows(), s.keyRows(),
		s.modelRows(), s.sessionRows(), s.timingRows(), s.speechRows(), s.limitRows(), s.logRows())
	for _, r := range s.rows {
		if r.literal {
			r.store(value{text: r.Default})
		}
	}
	return s
}

// Rows returns all settings, in the order of docs/configuration.md.
func Rows() []Row { return newSettings().rows }

// NetRows returns the settings that decide which net a call runs on.
func NetRows() []Row {
	return slices.DeleteFunc(Rows(), func(r Row) bool {
		section, _, _ := strings.Cut(r.Key, ".")
		return !slices.Contains([]string{"timing", "session", "prompts"}, section)
	})
}

// Net returns the configuration of the nets, without what a hello says and without the prompts.
func (s *Settings) Net() voicenets.Config { return s.gateway.Net }

// CallsMax returns the most calls at one time.
func (s *Settings) CallsMax() int { return s.gateway.CallsMax }

// HandshakesMax returns the most callers at one time whose hello is still to come.
func (s *Settings) HandshakesMax() int { return s.gateway.HandshakesMax }

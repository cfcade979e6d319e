package settings

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/live"
)

const (
	// Parrot is the name of the embedded model, which repeats what it hears.
	Parrot = "parrot"
	// ArchiveEnding is the ending of the name of an archive.
	ArchiveEnding = ".jsonl"

	toolSlots = 2 // of calls with functions that HTTP servers answer

	greetingDefault = "Greet the caller." // of the embedded model

	// dialGrace lets the dial's own limit end it before the gateway's does: its error says more.
	dialGrace = 2 * time.Second
)

// Gateway returns the configuration of a gateway but for its Dialer, Model, Guard and Log, and the functions that
// agents and HTTP servers answer, which are in AgentTools and WebTools afterwards. It reads the files of tools and
// prompts.
func (s *Settings) Gateway() (voicegw.Config, error) {
	c := s.gateway
	c.Setup = s.setup()
	c.Instructions = maps.Clone(s.Instructions)
	c.HandshakesPerAddress = min(c.HandshakesPerAddress, c.HandshakesMax)
	c.DialTimeout = s.Model.DialTimeout + dialGrace
	c.WS.Hosts, c.WS.Origins = s.Hosts, s.Origins
	if c.WS.ResumeWithin = s.Limits.ResumeWithin; c.WS.ResumeWithin == 0 {
		c.WS.ResumeWithin = -1
	}
	c.ShowNet = Loopback(s.Listen)
	if s.showNet != nil {
		c.ShowNet = *s.showNet
	}
	c.Greeting = s.Greeting()
	if s.Archive != "" {
		c.Archive = func(call string) (io.WriteCloser, error) { return createArchive(s.Archive, call) }
	}
	var err error
	if c.Tools, err = s.readTools(); err != nil {
		return c, err
	}
	if len(s.AgentTools) > 0 && !s.HasSessions() {
		return c, fmt.Errorf("session.tools_file %s: an agent answers the function %q, and there are no agents without "+
			"data_dir or journal", s.ToolsFile, s.AgentTools[0].Name)
	}
	if len(s.WebTools) > 0 && c.Net.ToolSlots == 0 {
		c.Net.ToolSlots = toolSlots
	}
	if c.Tools, err = s.handOffTool(c.Tools); err != nil {
		return c, err
	}
	c.Prompts, err = s.readPrompts()
	return c, err
}

func (s *Settings) setup() live.Setup {
	return live.Setup{Voice: s.Voice, Language: s.Language, SystemInstruction: s.Instructions[instructionsDefault],
		Temperature: s.Model.Temperature, MaxOutputTokens: s.Model.LongestReply()}
}

// LongestReply returns MaxOutputTokens as a live.Setup has it.
func (m *Model) LongestReply() *int32 {
	if m.MaxOutputTokens == 0 {
		return nil
	}
	n := int32(m.MaxOutputTokens)
	return &n
}

// createArchive creates the archive of a call, which nobody else may read.
func createArchive(dir, call string) (io.WriteCloser, error) {
	name := filepath.Join(dir, filepath.Base(call)+ArchiveEnding)
	return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
}

// isDirectory reports whether a path is that of a directory, or of nothing yet.
func isDirectory(path string) bool {
	info, err := os.Stat(path)
	return os.IsNotExist(err) || err == nil && info.IsDir()
}

// Embedded reports whether the model is the embedded one.
func (s *Settings) Embedded() bool {
	return s.Model.BaseURL == "" && (!s.paid() || s.Model.Name == Parrot)
}

// paid reports whether there is a key or a project that pays for a model.
func (s *Settings) paid() bool { return s.Model.Key != "" || s.Model.Project != "" }

// Wire returns the dialer of the model. For the embedded model it has neither an address nor a key;
// for a project of Vertex AI it has no Token.
func (s *Settings) Wire() live.Wire {
	m := &s.Model
	w := live.Wire{BaseURL: m.BaseURL, Model: m.Name, HandshakeTimeout: m.DialTimeout}
	switch {
	case s.Embedded():
	case m.Project != "":
		w.Vertex = &live.Vertex{Project: m.Project, Location: m.Location}
	default:
		w.APIKey = m.Key
	}
	return w
}

package clienttest

// Feature is something that a client does in a call.
type Feature string

// The features, in the order of the page.
const (
	Speech      Feature = "speech"      // the caller is heard, and hears the reply
	BargeIn     Feature = "barge-in"    // speech over a reply cuts it, and the client knows
	Text        Feature = "text"        // what the caller types is answered
	Tools       Feature = "tools"       // the model calls a function of the client
	Transcripts Feature = "transcripts" // of both sides
	Reconnect   Feature = "reconnect"   // a call goes on over another connection
	End         Feature = "end"         // the client ends the call, and the gateway learns of it
)

// Features returns all features.
func Features() []Feature {
	return []Feature{Speech, BargeIn, Text, Tools, Transcripts, Reconnect, End}
}

// Client is a client in a version.
type Client struct {
	ID      string // for Shows, unique
	Folder  string // of the tests that try it
	Name    string // for the page
	Package string // of internal/npmtest/package.json or go.mod, which pins the version
	Version string // without a Package
	Older   bool   // only "make clients" tries it
	// Recorded says that the client does not run here: its recorded messages are replayed, and that is
	// what the features mean.
	Recorded bool
	Not      map[Feature]string // why a feature is not claimed; all others are
}

// Reasons for what is not claimed.
const (
	noResume   = "The protocol cannot continue a call over another connection."
	replayOnly = "A recording holds only what the client sends before and between replies."
)

// not makes the features that are not claimed, for one reason.
func not(reason string, features ...Feature) map[Feature]string {
	all := map[Feature]string{}
	for _, f := range features {
		all[f] = reason
	}
	return all
}

// and adds features that are not claimed, for another reason.
func and(all map[Feature]string, reason string, features ...Feature) map[Feature]string {
	for f, why := range not(reason, features...) {
		all[f] = why
	}
	return all
}

// Clients returns the table, in the order of the page.
func Clients() []Client {
	var all []Client
	for _, list := range [][]Client{geminiClients(), openAIClients(), rtviClients()} {
		all = append(all, list...)
	}
	return all
}

func geminiClients() []Client {
	const folder = "transport/gemini"
	js := func(pkg string, older bool) Client {
		return Client{ID: pkg, Folder: folder, Name: "`@google/genai` (JavaScript)", Package: pkg, Older: older}
	}
	python := func(file, version string) Client {
		return Client{ID: "python-genai-" + file, Folder: folder, Name: "`google-genai` (Python)", Version: version,
			Recorded: true, Not: not(replayOnly, BargeIn, Transcripts, Reconnect, End)}
	}
	return []Client{js("@google/genai", false), js("genai-2", true), js("genai-1", true),
		{ID: "google.golang.org/genai", Folder: folder, Name: "`google.golang.org/genai` (Go)",
			Package: "google.golang.org/genai"},
		python("2.19.0", "2.19.0"), python("2.19.0-vertex", "2.19.0, Vertex AI"), python("1.16.0", "1.16.0"),
	}
}

func openAIClients() []Client {
	const folder = "transport/openai"
	agents := "`@openai/agents-realtime`"
	return []Client{
		{ID: "openai", Folder: folder, Name: "`openai` (node)", Package: "openai", Not: not(noResume, Reconnect)},
		{ID: "openai-6", Folder: folder, Name: "`openai` (node)", Package: "openai-6", Older: true,
			Not: not(noResume, Reconnect)},
		{ID: "openai/beta", Folder: folder, Name: "`openai/beta/realtime` (node)", Package: "openai",
			Not: not(noResume, Reconnect)},
		{ID: "@openai/agents-realtime", Folder: folder, Name: agents + ", WebSocket",
			Package: "@openai/agents-realtime", Not: not(noResume, Reconnect)},
		{ID: "agents-realtime-0.8", Folder: folder, Name: agents + ", WebSocket",
			Package: "agents-realtime-0.8", Older: true, Not: not(noResume, Reconnect)},
		{ID: "@openai/agents-realtime WebRTC", Folder: folder, Name: agents + ", WebRTC in Chromium",
			Package: "@openai/agents-realtime", Not: not(noResume, Reconnect)},
		{ID: "agents-realtime-0.8 WebRTC", Folder: folder, Name: agents + ", WebRTC in Chromium",
			Package: "agents-realtime-0.8", Older: true, Not: not(noResume, Reconnect)},
		livekit("1.9.0"), livekit("2.0.0"),
	}
}

func livekit(version string) Client {
	return Client{ID: "livekit-" + version, Folder: "transport/openai", Name: "`@livekit/agents-plugin-openai`",
		Version: version, Recorded: true,
		Not: and(not(noResume, Reconnect), replayOnly, Speech, BargeIn, Transcripts, End)}
}

func rtviClients() []Client {
	const folder, pkg = "transport/rtvi", "@pipecat-ai/client-js"
	return []Client{
		{ID: "pipecat", Folder: folder, Name: "`@pipecat-ai/client-js`, WebSocket", Package: pkg,
			Not: not(noResume, Reconnect)},
		{ID: "uikit websocket", Folder: folder, Name: "`@pipecat-ai/voice-ui-kit`, WebSocket in Chromium",
			Package: "@pipecat-ai/voice-ui-kit", Not: and(not(noResume, Reconnect), inClient, BargeIn, Tools)},
		{ID: "uikit webrtc", Folder: folder, Name: "`@pipecat-ai/voice-ui-kit`, SmallWebRTC in Chromium",
			Package: "@pipecat-ai/voice-ui-kit", Not: and(not(noResume, Reconnect), inClient, BargeIn, Tools)},
	}
}

const inClient = "Tried with `@pipecat-ai/client-js`, which the kit is built on."

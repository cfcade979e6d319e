package main

import (
	"net"
	"net/url"
	"slices"
	"strings"
)

// doorOptions are the doors besides the WebSocket of the page.
type doorOptions struct {
	open     []string // of doorNames
	webrtc   webrtcOptions
	twilio   twilioOptions
	asterisk asteriskOptions
}

type webrtcOptions struct {
	listen     string // UDP; "": the host of options.listen, any free port
	publicIPs  []string
	iceServers []string
	fullICE    bool
	private    bool // FullICE may try private addresses
}

type twilioOptions struct {
	authTokenFile, secretFile, publicURL, afterURL string
	ownTwiML                                       bool
	targets                                        []string // name=number
}

type asteriskOptions struct {
	user, passwordFile                   string
	ariURL, ariUser, ariFile, ariContext string
	targets                              []string // name=extension
}

// doorNames are the doors there are.
func doorNames() []string {
	return []string{"webrtc", "gemini", "openai", "rtvi", "twilio", "asterisk"}
}

// doorsSettings are all about doors.
func doorsSettings() []setting {
	d := func(o *options) *doorOptions { return &o.doors }
	return []setting{
		listSetting("doors", "any of "+strings.Join(doorNames(), ", "), "protocols to take calls by besides the page's own",
			func(o *options) *[]string { return &d(o).open }, areDoors),
		textSetting("webrtc.listen", "the host of listen, any free port", "HOST:PORT", "the UDP address of all WebRTC calls",
			func(o *options) *string { return &d(o).webrtc.listen }, func(s string) bool { return s == "" || isAddress(s) }),
		listSetting("webrtc.public_ips", "addresses such as 203.0.113.7", "addresses that callers are told of in place of "+
			"the machine's own", func(o *options) *[]string { return &d(o).webrtc.publicIPs }, areIPs),
		listSetting("webrtc.ice_servers", "URLs such as stun:stun.example.com:3478", "STUN servers that callers are told of",
			func(o *options) *[]string { return &d(o).webrtc.iceServers }, areSTUN),
		boolSetting("webrtc.full_ice", "false", "look for ways to the caller, in place of waiting to be found",
			func(o *options, b bool) { d(o).webrtc.fullICE = b }),
		boolSetting("webrtc.private_candidates", "false", "with full_ice, try private addresses that a caller names; those "+
			"are tried anyway when webrtc.listen is one", func(o *options, b bool) { d(o).webrtc.private = b }),
		textSetting("twilio.auth_token_file", "none", "the path of a file with the account's auth token",
			"what Twilio signs its requests with", func(o *options) *string { return &d(o).twilio.authTokenFile }, nil),
		boolSetting("twilio.own_twiml", "false", "take signed streams without the pass that /v1/twilio/voice gives a call: "+
			"TwiML of your own leads them here", func(o *options, b bool) { d(o).twilio.ownTwiML = b }),
		textSetting("twilio.secret_file", "none", "the path of a file with at least 16 bytes",
			"what other carriers show in place of a signature",
			func(o *options) *string { return &d(o).twilio.secretFile }, nil),
		textSetting("twilio.public_url", "the Host of the request", "https://...", "how carriers reach this server behind a "+
			"proxy", func(o *options) *string { return &d(o).twilio.publicURL }, isHTTPS),
		textSetting("twilio.after_url", "none", "https://...", "TwiML that goes on with a call that was not transferred",
			func(o *options) *string { return &d(o).twilio.afterURL }, isHTTPS),
		listSetting("twilio.targets", "entries such as sales=+4930123456", "names for who may take a call over",
			func(o *options) *[]string { return &d(o).twilio.targets }, areTargets),
		textSetting("asterisk.user", "none", "a name", "the username that Asterisk shows",
			func(o *options) *string { return &d(o).asterisk.user }, nil),
		textSetting("asterisk.password_file", "none", "the path of a file with the password",
			"the password that Asterisk shows", func(o *options) *string { return &d(o).asterisk.passwordFile }, nil),
		textSetting("asterisk.ari_url", "none", "http://... or https://...", "Asterisk's REST interface, for transfers",
			func(o *options) *string { return &d(o).asterisk.ariURL }, isHTTP),
		textSetting("asterisk.ari_user", "none", "a name", "its user",
			func(o *options) *string { return &d(o).asterisk.ariUser }, nil),
		textSetting("asterisk.ari_password_file", "none", "the path of a file with the password", "its password",
			func(o *options) *string { return &d(o).asterisk.ariFile }, nil),
		textSetting("asterisk.ari_context", "none", "a context of the dialplan", "where calls are transferred to",
			func(o *options) *string { return &d(o).asterisk.ariContext }, nil),
		listSetting("asterisk.targets", "entries such as sales=200", "names for who may take a call over",
			func(o *options) *[]string { return &d(o).asterisk.targets }, areTargets),
	}
}

func areDoors(list []string) bool {
	return !slices.ContainsFunc(list, func(s string) bool { return !slices.Contains(doorNames(), s) })
}

func areIPs(list []string) bool {
	return !slices.ContainsFunc(list, func(s string) bool { return net.ParseIP(s) == nil })
}

func areSTUN(list []string) bool {
	return !slices.ContainsFunc(list, func(s string) bool {
		return !strings.HasPrefix(s, "stun:") && !strings.HasPrefix(s, "stuns:")
	})
}

func areTargets(list []string) bool {
	return !slices.ContainsFunc(list, func(s string) bool {
		name, to, ok := strings.Cut(s, "=")
		return !ok || name == "" || to == ""
	})
}

func isHTTP(s string) bool {
	u, err := url.Parse(s)
	return s == "" || err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

func isHTTPS(s string) bool { return s == "" || isHTTP(s) && strings.HasPrefix(s, "https:") }

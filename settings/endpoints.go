package settings

import (
	"net"
	"regexp"
	"slices"
	"strings"
)

func (s *Settings) endpointRows() []Row {
	w, t, a := &s.WebRTC, &s.Twilio, &s.Asterisk
	names := EndpointNames()
	open := listRow("endpoints", &s.Endpoints, "any of "+strings.Join(names, ", "),
		"protocols for calls, besides the page's own", func(list []string) bool {
			return !slices.ContainsFunc(list, func(name string) bool { return !slices.Contains(names, name) })
		}).renamed("doors")
	open.Words = names
	rows := []Row{
		textRow("webrtc.listen", &w.Listen, "the host of listen, any free port", "HOST:PORT",
			"the UDP address of all WebRTC calls", func(s string) bool { return s == "" || isAddress(s) }),
		listRow("webrtc.public_ips", &w.PublicIPs, "addresses such as 203.0.113.7",
			"addresses to give callers in place of the machine's own", areIPs),
		listRow("webrtc.ice_servers", &w.ICEServers, "URLs such as stun:stun.example.com:3478",
			"STUN servers to give callers", areSTUN).reloading(),
		listRow("webrtc.turn_servers", &w.TURN.Servers, "URLs such as turn:turn.example.com:3478?transport=udp",
			"TURN servers to give callers, which relay calls that find no other way", areTURN).reloading(),
		textRow("webrtc.turn_username", &w.TURN.Username, "none", "a name without a colon",
			"the user of webrtc.turn_servers", func(s string) bool { return !strings.Contains(s, ":") }).reloading(),
		secretRow("webrtc.turn_credential_file", &w.TURN.CredentialFile, "the user's password",
			"the password of webrtc.turn_username").reloading(),
		secretRow("webrtc.turn_secret_file", &w.TURN.SecretFile, "a secret that the TURN servers share",
			"in place of a password: each call gets credentials made of this secret, which expire (coturn: use-auth-secret)").
			reloading(),
		onRow("webrtc.full_ice", &w.FullICE,
			"search for a path to the caller (full ICE), not only answer the caller's checks"),
		onRow("webrtc.private_candidates", &w.PrivateCandidates,
			"with full_ice, try private addresses of the caller too; with a private webrtc.listen this is always so"),
		onRow("webrtc.one_way", &w.OneWay,
			"also take callers who only speak (WHIP publishers) or only listen (WHEP)"),
		secretRow("twilio.auth_token_file", &t.AuthTokenFile, "the account's auth token",
			"the token by which Twilio signs its requests").reloading(),
		onRow("twilio.own_twiml", &t.OwnTwiML,
			"accept signed streams from TwiML of your own, without the pass that /v1/twilio/voice gives a call"),
		secretRow("twilio.secret_file", &t.SecretFile, "at least 16 bytes",
			"the secret that other carriers send in place of a signature").reloading(),
		textRow("twilio.public_url", &t.PublicURL, "the Host of the request", "https://...",
			"the URL by which carriers reach this server behind a proxy", isHTTPS),
		textRow("twilio.after_url", &t.AfterURL, "none", "https://...",
			"TwiML that continues a call that was not transferred", isHTTPS),
		targetsRow("twilio.targets", &t.Targets, "numbers", "+4930123456").reloading(),
		textRow("asterisk.user", &a.User, "none", "a name", "the username that Asterisk sends", nil).reloading(),
		secretRow("asterisk.password_file", &a.PasswordFile, "the password", "the password that Asterisk sends").reloading(),
		textRow("asterisk.ari_url", &a.ARIURL, "none", "http://... or https://...",
			"the address of Asterisk's REST interface, for transfers", isHTTP),
		textRow("asterisk.ari_user", &a.ARIUser, "none", "a name", "the username for the REST interface", nil).reloading(),
		secretRow("asterisk.ari_password_file", &a.ARIPasswordFile, "the password",
			"the password for the REST interface").reloading(),
		textRow("asterisk.ari_context", &a.ARIContext, "none", "a context of the dialplan",
			"the context to which calls are transferred", nil).reloading(),
		targetsRow("asterisk.targets", &a.Targets, "extensions", "200").reloading(),
	}
	for i, r := range rows {
		section, _, _ := strings.Cut(r.Key, ".")
		rows[i] = r.onlyIf(func() bool { return slices.Contains(s.Endpoints, section) }, "endpoints does not name "+section)
	}
	return append([]Row{open}, rows...)
}

// targetsRow is the setting of those to whom calls may be transferred.
func targetsRow(key string, at *[]string, of, such string) Row {
	return listRow(key, at, "entries such as sales="+such, "names of "+of+" to transfer calls to", areTargets)
}

func areIPs(list []string) bool {
	return !slices.ContainsFunc(list, func(s string) bool { return net.ParseIP(s) == nil })
}

func areSTUN(list []string) bool {
	return !slices.ContainsFunc(list, func(s string) bool {
		return !strings.HasPrefix(s, "stun:") && !strings.HasPrefix(s, "stuns:")
	})
}

func areTURN(list []string) bool {
	return len(list) <= turnServersMax && !slices.ContainsFunc(list, func(s string) bool {
		return !turnURL.MatchString(s)
	})
}

// turnURL is RFC 7065 section 3.1.
var turnURL = regexp.MustCompile(`^turns?:([0-9A-Za-z.-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?(\?transport=(udp|tcp))?$`)

// turnServersMax is how many URLs callers are given.
const turnServersMax = 16

func areTargets(list []string) bool {
	return !slices.ContainsFunc(list, func(s string) bool {
		name, to, ok := strings.Cut(s, "=")
		return !ok || name == "" || to == ""
	})
}

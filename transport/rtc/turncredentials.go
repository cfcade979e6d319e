package rtc

import (
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pion/webrtc/v4"
)

// TURNLifeDefault is how long the credentials of ICEServer.Secret are valid.
const TURNLifeDefault = 35 * time.Minute

// issue returns the server as one call gets it. A secret becomes credentials of its own that expire
// (draft-uberti-behave-turn-rest-00, section 2.2): the name is the time of expiry, ":" and Username; the
// password is the HMAC-SHA1 of the name. coturn calls this use-auth-secret.
func (s ICEServer) issue(now time.Time) ICEServer {
	if s.Secret == "" {
		return s
	}
	life := s.Life
	if life <= 0 {
		life = TURNLifeDefault
	}
	name := strconv.FormatInt(now.Add(life).Unix(), 10)
	if s.Username != "" {
		name += ":" + s.Username
	}
	mac := hmac.New(sha1.New, []byte(s.Secret))
	mac.Write([]byte(name))
	return ICEServer{URLs: s.URLs, Username: name, Credential: base64.StdEncoding.EncodeToString(mac.Sum(nil))}
}

// SetICEServers replaces Config.ICEServers for calls that begin afterwards. After an error it keeps the old
// ones.
func (e *Endpoint) SetICEServers(list []ICEServer) error {
	commit, err := e.PrepareICEServers(list)
	if err == nil {
		commit()
	}
	return err
}

// PrepareICEServers checks the servers as SetICEServers does and changes nothing; commit then replaces them.
func (e *Endpoint) PrepareICEServers(list []ICEServer) (commit func(), err error) {
	if err := checkServers(list); err != nil {
		return nil, err
	}
	list = slices.Clone(list)
	return func() { e.servers.Store(&list) }, nil
}

// iceServers returns the servers for one call.
func (e *Endpoint) iceServers() []ICEServer {
	list := slices.Clone(*e.servers.Load())
	for i := range list {
		list[i] = list[i].issue(time.Now())
	}
	return list
}

// configuration returns the configuration of a peer connection. Without FullICE the endpoint uses no
// servers itself.
func (e *engine) configuration(c Config) webrtc.Configuration {
	cfg := e.cfg
	if !c.FullICE {
		return cfg
	}
	for _, s := range c.ICEServers {
		cfg.ICEServers = append(cfg.ICEServers,
			webrtc.ICEServer{URLs: s.URLs, Username: s.Username, Credential: s.Credential})
	}
	return cfg
}

// checkServers returns an error for the first server that is not valid.
func checkServers(list []ICEServer) error {
	if len(list) > ICEServersMax {
		return fmt.Errorf("transport/rtc: check ICE servers: %d, at most %d", len(list), ICEServersMax)
	}
	for _, s := range list {
		if err := s.check(); err != nil {
			return err
		}
	}
	return nil
}

// hasCredentials reports whether a TURN server will know the caller.
func (s ICEServer) hasCredentials() bool {
	return s.Secret != "" && !strings.Contains(s.Username, ":") || s.Username != "" && s.Credential != ""
}

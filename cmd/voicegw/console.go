package main

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"strings"
	"sync"

	"github.com/voicegw/voicegw/console"
	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/settings"
	"github.com/voicegw/voicegw/web"
)

// consolePath is the path of the console, and of all paths below it.
const consolePath = "/console/"

// sharedPath is the path of archived calls that a signed link shows, without the token of the admin listener.
const sharedPath = consolePath + "shared/"

// console serves the console.
func (s *serving) console() http.Handler {
	var archives fs.FS
	if s.settings.Archive != "" {
		archives = os.DirFS(s.settings.Archive)
	}
	nets := &archivedNets{settings: s.settings, known: map[string]*petri.Program{}}
	key := make([]byte, 32) // links end with the process
	_, _ = rand.Read(key)   // never fails
	sharer := &console.Sharer{Path: sharedPath, Key: func() []byte { return key },
		Page: web.ConsolePage(web.ConsolePageConfig{Shared: true})}
	h, err := console.New(console.Config{Gateway: s.gw, Archives: archives, Net: nets.find, Names: netNames,
		Transcript: s.records.transcript, Search: s.records.search,
		Page: web.ConsolePage(web.ConsolePageConfig{}), Sharer: sharer})
	if err != nil {
		panic(err) // nothing of the Config comes from outside
	}
	mux := http.NewServeMux()
	mux.Handle(sharedPath, sharer)
	mux.Handle(consolePath, http.StripPrefix(strings.TrimSuffix(consolePath, "/"), h))
	return mux
}

// archivedNets finds the nets of archives among those that the settings make. It is safe for concurrent use.
type archivedNets struct {
	settings *settings.Settings

	mu    sync.Mutex
	known map[string]*petri.Program // by hash; nil for a hash that no net has
}

// archivedNetsMax limits the hashes that are remembered.
const archivedNetsMax = 256

var errNoNet = errors.New("start voicegw serve with the --config, environment or flags that it had then")

// find returns the net with a hash.
func (n *archivedNets) find(hash string) (*petri.Program, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	prog, ok := n.known[hash]
	if !ok {
		c, err := netOf(n.settings)
		if err != nil {
			return nil, err
		}
		if _, prog, err = sessionOf(hash, c); err != nil {
			return nil, err
		}
		if len(n.known) >= archivedNetsMax {
			clear(n.known)
		}
		n.known[hash] = prog
	}
	if prog == nil {
		return nil, errNoNet
	}
	return prog, nil
}

// authorization returns how a request to the admin listener authorizes itself. Browsers send what a person typed as
// the password, and only to the console.
func authorization(r *http.Request) string {
	given := r.Header.Get("Authorization")
	basic, ok := strings.CutPrefix(given, "Basic ")
	if !ok || !strings.HasPrefix(r.URL.Path, consolePath) {
		return given
	}
	pair, err := base64.StdEncoding.DecodeString(basic)
	if err != nil {
		return ""
	}
	_, password, _ := strings.Cut(string(pair), ":")
	return "Bearer " + password
}

// challenge asks for the token: browsers ask the person for it where the console is.
func challenge(r *http.Request) string {
	if strings.HasPrefix(r.URL.Path, consolePath) {
		return `Basic realm="voicegw: the token of admin.token_file is the password", charset="UTF-8"`
	}
	return "Bearer"
}

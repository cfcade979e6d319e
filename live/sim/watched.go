package sim

// Watched is something that Config.Watch gets.
type Watched struct {
	Connection int // the ID of its Connection
	Kind       WatchedKind
	PCM        []byte // of WatchedAudio: 16-bit little-endian, valid until Watch returns
}

// WatchedKind says what a Watched is.
type WatchedKind uint8

// The kinds of Watched.
const (
	WatchedReady       WatchedKind = iota + 1 // the setup is accepted
	WatchedAudio                              // a message with audio of the caller has come
	WatchedReply                              // the first audio of a reply is about to be sent
	WatchedInterrupted                        // interrupted is about to be sent
)

func (m *machine) watched(k WatchedKind, pcm []byte) {
	if m.cfg.Watch != nil {
		m.cfg.Watch(Watched{Connection: m.id, Kind: k, PCM: pcm})
	}
}

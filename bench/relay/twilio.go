package relay

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"github.com/coder/websocket"

	"github.com/voicegw/voicegw/audio"
)

// codedFrame is 20 ms of mu-law.
const codedFrame = 160

// streamMessage is a message of Twilio.
type streamMessage struct {
	Event, StreamSid string
	Media            struct{ Payload []byte }
}

func readStream(b []byte) (m streamMessage, err error) {
	if err := json.Unmarshal(b, &m); err != nil {
		return streamMessage{}, fmt.Errorf("relay: a message of a stream: %w", err)
	}
	return m, nil
}

// twilio relays a Media Stream: mu-law at 8 kHz up to 16 kHz, and 24 kHz down to it.
func (r *Relay) twilio(w http.ResponseWriter, req *http.Request) {
	peer, joined, err := accept(w, req)
	if err != nil {
		return
	}
	defer func() { _ = peer.CloseNow() }()
	ctx := req.Context()
	var start streamMessage
	for start.Event != "start" {
		_, b, err := peer.Read(ctx)
		if err != nil {
			return
		}
		if start, err = readStream(b); err != nil {
			return
		}
	}
	m, err := dialModel(ctx, r.Model)
	if err != nil {
		return
	}
	defer m.close()
	s := newStream(peer, m, start.StreamSid)
	s.joined = joined
	both(peer, m, s.up, s.down)
}

// stream is a Media Stream.
type stream struct {
	peer         *websocket.Conn
	joined       *joined
	model        *model
	id           string
	to16, to8    *audio.Resampler
	wide, narrow []int16
	le           []byte
	sound, in    []int16
	read, coded  []byte
	out          []byte
	row          [][]byte
}

func newStream(peer *websocket.Conn, m *model, id string) *stream {
	s := &stream{peer: peer, model: m, id: id}
	s.to16, _ = audio.NewResampler(8000, 16000) // both rates are right
	s.to8, _ = audio.NewResampler(24000, 8000)
	return s
}

func (s *stream) up() (err error) {
	if _, s.read, err = receive(s.peer, s.read); err != nil {
		return err
	}
	message, err := readStream(s.read)
	if err != nil || message.Event != "media" {
		return err
	}
	s.narrow = audio.AppendMuLawSamples(s.narrow[:0], message.Media.Payload)
	s.wide = s.to16.Resample(s.wide[:0], s.narrow)
	s.le = audio.AppendBytes(s.le[:0], s.wide)
	return s.model.send(s.le)
}

func (s *stream) down() error {
	said, err := s.model.receive()
	if err != nil {
		return err
	}
	s.sound = audio.AppendSamples(s.sound[:0], said.pcm)
	s.in = s.to8.Resample(s.in[:0], s.sound)
	s.coded = audio.AppendMuLaw(s.coded[:0], s.in)
	s.out, s.row = s.out[:0], s.row[:0]
	for frame := range slices.Chunk(s.coded, codedFrame) {
		begin := len(s.out)
		s.out = append(s.out, `{"event":"media","streamSid":"`...)
		s.out = append(s.out, s.id...)
		s.out = append(s.out, `","media":{"payload":"`...)
		s.out = base64.StdEncoding.AppendEncode(s.out, frame)
		s.out = append(s.out, `"}}`...)
		s.row = append(s.row, s.out[begin:])
	}
	return s.joined.write(s.peer, websocket.MessageText, s.row)
}

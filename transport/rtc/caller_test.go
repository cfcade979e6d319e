package rtc_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pion/rtcp"
	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/audio/audiotest"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/live/sim"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/rtc"
	"github.com/voicegw/voicegw/transport/ws"
)

// patience is how long a story waits for what must come.
const patience = time.Minute

// world is a gateway with a WebRTC endpoint between an embedded model and those who call.
type world struct {
	t        testing.TB
	model    *sim.Server
	gw       *voicegw.Gateway
	endpoint *rtc.Endpoint
	server   *httptest.Server               // nil in a bubble
	ether    *ether                         // of a bubble
	listen   func() (net.PacketConn, error) // the network of callers
}

func newWorld(t testing.TB, model sim.Config, gw voicegw.Config, cfg rtc.Config) *world {
	t.Helper()
	m, err := sim.New(model)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	gw.Dialer = live.Wire{BaseURL: m.URL()}
	g, err := voicegw.New(gw)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, model: m, gw: g}
	cfg.Lines, cfg.Codecs = g.Lines(), spoken(cfg.Codecs)
	if w.endpoint, err = rtc.New(cfg); err != nil {
		t.Fatal(err)
	}
	w.listen = func() (net.PacketConn, error) { return net.ListenPacket("udp4", "127.0.0.1:0") }
	w.server = httptest.NewServer(w.endpoint)
	t.Cleanup(func() {
		if err := w.endpoint.Close(); err != nil {
			t.Error(err)
		}
		_ = g.Close()
		w.server.Close()
		_ = m.Close()
		http.DefaultClient.CloseIdleConnections()
	})
	return w
}

// spoken are codecs that a client in Go understands, unless a test wants others.
func spoken(c []rtc.Codec) []rtc.Codec {
	if c != nil {
		return c
	}
	return []rtc.Codec{rtc.G722, rtc.PCMU}
}

// callURL is the address of new calls.
func (w *world) callURL() string { return w.url() + "/v1/whip" }

func (w *world) url() string {
	if w.server == nil {
		return "http://127.0.0.1"
	}
	return w.server.URL
}

// request asks over HTTP; headers come in pairs.
func (w *world) request(method, url, body string, header ...string) (*http.Response, string) {
	w.t.Helper()
	r, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	if w.server == nil {
		rec := httptest.NewRecorder()
		w.endpoint.ServeHTTP(rec, r)
		return rec.Result(), rec.Body.String()
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return resp, string(b)
}

// eventually waits until ok.
func (w *world) eventually(what string, ok func() bool) {
	w.t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			w.t.Fatalf("never: %s", what)
		}
	}
}

// caller is a WebRTC client: it sends 20 ms of what there is to say, or of silence, and keeps what
// it hears.
type caller struct {
	t        testing.TB
	w        *world
	socket   net.PacketConn
	pc       *webrtc.PeerConnection
	track    *rawTrack
	dc       *webrtc.DataChannel
	location string // of the session
	etag     string
	began    time.Time
	joined   time.Duration // until it was connected
	encoder  *audio.G722Encoder
	tasks    sync.WaitGroup
	stop     chan struct{}
	asked    atomic.Int32 // requests for lost packets

	mu      sync.Mutex
	news    chan struct{}
	open    bool // the data channel
	log     []said
	next    int
	voice   []int16
	packets []rtp.Packet // to be sent in place of sound
	heard   []rtp.Packet
	length  int    // samples at 16 kHz that were heard or lost
	first   uint16 // sequence number
	state   webrtc.PeerConnectionState
}

// said is a message and how much was heard when it came.
type said struct {
	transport.Message
	at int // samples heard
}

// call makes a call that lasts until it is over, or the test is.
func (w *world) call(m manner) *caller {
	w.t.Helper()
	c := w.prepare(m)
	offer := c.offer(nil)
	if m.offers != nil {
		offer = m.offers(offer)
	}
	header := []string{"Content-Type", "application/sdp"}
	if m.token != "" {
		header = append(header, "Authorization", "Bearer "+m.token)
	}
	if m.hello != "" {
		header = append(header, rtc.HelloHeader, m.hello)
	}
	c.began = time.Now()
	resp, answer := w.request(http.MethodPost, w.callURL(), offer, header...)
	if resp.StatusCode != http.StatusCreated {
		w.t.Fatalf("the call was refused: %d %s", resp.StatusCode, answer)
	}
	c.location, c.etag = w.url()+resp.Header.Get("Location"), resp.Header.Get("ETag")
	if m.through != nil {
		answer = m.through(answer)
	}
	c.join(answer)
	return c
}

// join takes the answer, and returns when the connection is up. The caller speaks from then on.
func (c *caller) join(answer string) {
	c.t.Helper()
	if err := c.pc.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeAnswer, SDP: answer}); err != nil {
		c.t.Fatal(err)
	}
	c.until("the connection is up", func() bool { return c.state == webrtc.PeerConnectionStateConnected })
	c.tasks.Go(c.speak)
}

// prepare makes a client that has not called yet.
func (w *world) prepare(m manner) *caller {
	w.t.Helper()
	if m.codec.MimeType == "" {
		m.codec = g722()
	}
	c := &caller{t: w.t, w: w, encoder: audio.NewG722Encoder(), stop: make(chan struct{}), news: make(chan struct{})}
	var err error
	if c.socket, err = w.listen(); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = c.socket.Close() })
	if c.pc, err = m.api(w.t, c.socket, w.ether != nil).NewPeerConnection(m.ice); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(c.hangUp)
	track, err := webrtc.NewTrackLocalStaticRTP(m.codec, "voice", "caller")
	if err != nil {
		w.t.Fatal(err)
	}
	c.track = &rawTrack{TrackLocalStaticRTP: track}
	c.addTrack(m.way)
	c.pc.OnTrack(func(t *webrtc.TrackRemote, _ *webrtc.RTPReceiver) { c.listen(t) })
	c.pc.OnConnectionStateChange(func(s webrtc.PeerConnectionState) {
		c.change(func() {
			if c.state = s; s == webrtc.PeerConnectionStateConnected && c.joined == 0 {
				c.joined = time.Since(c.began)
			}
		})
	})
	if !m.noData {
		if c.dc, err = c.pc.CreateDataChannel(rtc.ChannelLabel, nil); err != nil {
			w.t.Fatal(err)
		}
		c.dc.OnOpen(func() { c.change(func() { c.open = true }) })
		c.dc.OnMessage(func(msg webrtc.DataChannelMessage) { c.told(msg.Data) })
	}
	return c
}

// addTrack adds the track of what the caller says, or a place for what it hears alone.
func (c *caller) addTrack(way webrtc.RTPTransceiverDirection) {
	c.t.Helper()
	if way == webrtc.RTPTransceiverDirectionUnknown {
		way = webrtc.RTPTransceiverDirectionSendrecv
	}
	init := webrtc.RTPTransceiverInit{Direction: way}
	if way == webrtc.RTPTransceiverDirectionRecvonly {
		if _, err := c.pc.AddTransceiverFromKind(webrtc.RTPCodecTypeAudio, init); err != nil {
			c.t.Fatal(err)
		}
		return
	}
	transceiver, err := c.pc.AddTransceiverFromTrack(c.track, init)
	if err != nil {
		c.t.Fatal(err)
	}
	sender := transceiver.Sender()
	c.tasks.Go(func() {
		for {
			packets, _, err := sender.ReadRTCP()
			if err != nil {
				return
			}
			for _, p := range packets {
				if _, ok := p.(*rtcp.TransportLayerNack); ok {
					c.asked.Add(1)
				}
			}
		}
	})
}

// offer is the client's offer, with its candidates.
func (c *caller) offer(o *webrtc.OfferOptions) string {
	c.t.Helper()
	offer, err := c.pc.CreateOffer(o)
	if err != nil {
		c.t.Fatal(err)
	}
	gathered := webrtc.GatheringCompletePromise(c.pc)
	if err := c.pc.SetLocalDescription(offer); err != nil {
		c.t.Fatal(err)
	}
	<-gathered
	return c.pc.LocalDescription().SDP
}

// change changes what is guarded, and wakes who waits.
func (c *caller) change(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
	close(c.news)
	c.news = make(chan struct{})
}

// told takes an event of the gateway.
func (c *caller) told(b []byte) {
	var m transport.Message
	if err := ws.DecodeMessage(b, &m); err != nil && !strings.Contains(string(b), `"ready"`) {
		c.t.Errorf("the gateway said %q: %v", b, err)
		return
	}
	c.change(func() { c.log = append(c.log, said{m, c.length}) })
}

// listen keeps what is heard.
func (c *caller) listen(t *webrtc.TrackRemote) {
	for {
		p, _, err := t.ReadRTP()
		if err != nil {
			return
		}
		if p.PayloadType != 9 {
			c.t.Errorf("sound came as payload type %d", p.PayloadType)
			return
		}
		c.change(func() {
			if len(c.heard) == 0 {
				c.first = p.SequenceNumber
			}
			if at := int(int16(p.SequenceNumber - c.first)); at >= 0 {
				c.heard = append(c.heard, *p)
				c.length = max(c.length, (at+1)*320)
			}
		})
	}
}

// sound is what was heard from a sample on, each packet in its place, silence where there was none.
// That the endpoint skips time when the machine is too busy to send is not seen.
func (c *caller) sound(from int) []int16 {
	c.mu.Lock()
	defer c.mu.Unlock()
	slices.SortStableFunc(c.heard, func(a, b rtp.Packet) int { return int(int16(a.SequenceNumber - b.SequenceNumber)) })
	d, out := audio.NewG722Decoder(), make([]int16, c.length)
	for i, p := range c.heard {
		if i == 0 || p.SequenceNumber != c.heard[i-1].SequenceNumber {
			copy(out[320*int(p.SequenceNumber-c.first):], d.Append(nil, p.Payload))
		}
	}
	return out[min(from, len(out)):]
}

// concealed is what a client plays that papers over what was lost, as browsers and phones do: it is
// sound, but each packet that is missing repeats the one before at three quarters of its loudness.
func (c *caller) concealed(from int) []int16 {
	out := c.sound(0)
	c.mu.Lock()
	defer c.mu.Unlock()
	came := map[int]bool{}
	for _, p := range c.heard {
		came[int(p.SequenceNumber-c.first)] = true
	}
	for n := 1; n < len(out)/320; n++ {
		for i := 0; !came[n] && i < 320; i++ {
			out[320*n+i] = out[320*(n-1)+i] / 4 * 3
		}
	}
	return out[min(from, len(out)):]
}

// speak sends a packet every 20 ms. After the machine was late it sends those that are due.
func (c *caller) speak() {
	ticker := time.NewTicker(audio.FrameDuration)
	defer ticker.Stop()
	p := rtp.Packet{Header: rtp.Header{Version: 2, SequenceNumber: 65500, Timestamp: 1 << 31}}
	frame := make([]int16, 320)
	due := time.Now()
	for {
		select {
		case <-ticker.C:
		case <-c.stop:
			return
		}
		for now := time.Now(); due.Before(now); due = due.Add(audio.FrameDuration) {
			c.speakFrame(&p, frame)
		}
	}
}

// speakFrame sends what comes next as p, and makes p the one behind it.
func (c *caller) speakFrame(p *rtp.Packet, frame []int16) {
	c.mu.Lock()
	clear(frame)
	c.voice = c.voice[copy(frame, c.voice):]
	var other *rtp.Packet
	if len(c.packets) > 0 {
		other, c.packets = &c.packets[0], c.packets[1:]
	}
	c.mu.Unlock()
	if other != nil {
		c.other(*other, p)
	} else {
		p.Payload = c.encoder.Append(p.Payload[:0], frame)
		c.track.write(p)
	}
	p.SequenceNumber++
	p.Timestamp += 160
}

// say speaks from now on.
func (c *caller) say(pcm []int16) { c.change(func() { c.voice = slices.Clone(pcm) }) }

// until waits until ok, which is called with the lock held.
func (c *caller) until(what string, ok func() bool) {
	c.t.Helper()
	limit := time.After(patience)
	for {
		c.mu.Lock()
		done, news := ok(), c.news
		c.mu.Unlock()
		if done {
			return
		}
		select {
		case <-news:
		case <-limit:
			c.t.Fatalf("never: %s\n%s", what, c.story())
		}
	}
}

// wait returns the next message that fits, after those of earlier waits.
func (c *caller) wait(what string, fits func(said) bool) (found said) {
	c.t.Helper()
	c.until(what, func() bool {
		for ; c.next < len(c.log); c.next++ {
			if fits(c.log[c.next]) {
				found = c.log[c.next]
				c.next++
				return true
			}
		}
		return false
	})
	return found
}

// turn waits for a turn to come into a state.
func (c *caller) turn(s transport.State) said {
	c.t.Helper()
	return c.wait("turn "+string(s), func(m said) bool { return m.Kind == transport.MessageTurn && m.State == s })
}

// kind waits for a message of a kind.
func (c *caller) kind(k transport.MessageKind) said {
	c.t.Helper()
	return c.wait(k.String(), func(m said) bool { return m.Kind == k })
}

// count counts the messages of a kind so far.
func (c *caller) count(k transport.MessageKind) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range c.log {
		if m.Kind == k {
			n++
		}
	}
	return n
}

// send sends an event.
func (c *caller) send(ev transport.Event) {
	c.t.Helper()
	b, err := ws.AppendEvent(nil, &ev)
	if err != nil {
		c.t.Fatal(err)
	}
	c.until("the data channel is open", func() bool { return c.open })
	if err := c.dc.SendText(string(b)); err != nil {
		c.t.Fatal(err)
	}
}

// listenFor waits until so much more was heard.
func (c *caller) listenFor(d time.Duration) {
	c.t.Helper()
	c.mu.Lock()
	from := c.length
	c.mu.Unlock()
	c.until("sound goes on", func() bool { return c.length >= from+int(d.Milliseconds())*16 })
}

// hangUp leaves without a word.
func (c *caller) hangUp() {
	select {
	case <-c.stop:
		return
	default:
		close(c.stop)
	}
	_ = c.pc.GracefulClose()
	c.tasks.Wait()
}

// vanish stops sending anything, as a phone without power does.
func (c *caller) vanish() {
	close(c.stop)
	_ = c.socket.Close()
	_ = c.pc.GracefulClose()
	c.tasks.Wait()
}

// story is the log, for failures.
func (c *caller) story() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var b strings.Builder
	for _, m := range c.log {
		_, _ = fmt.Fprintln(&b, m.at/16, m.Kind, m.State, m.TurnEnd, m.Generation, m.Code, m.Text)
	}
	_, _ = fmt.Fprintf(&b, "%d ms heard in %d packets, %v\n", c.length/16, len(c.heard), c.state)
	return b.String()
}

// speech is an utterance at 16 kHz.
func speech(name string) []int16 { return audiotest.Speech(name).Samples }

// resampled is sound of 16 kHz at another rate.
func resampled(pcm []int16, rateHz int) []int16 {
	return audiotest.Resample(audio.PCM{RateHz: 16000, Samples: pcm}, rateHz).Samples
}

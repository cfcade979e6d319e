package ws

import (
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/transport"
)

// example is a line of the fixture that the browser client reads too.
type example struct {
	From    string          `json:"from"`
	Event   json.RawMessage `json:"event"`
	OK      bool            `json:"ok"`
	Ignored bool            `json:"ignored"`
	Why     string          `json:"why"`
}

func fixture(t testing.TB) []example {
	t.Helper()
	b, err := os.ReadFile("testdata/protocol.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []example
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatalf("testdata/protocol.json: %v", err)
	}
	return all
}

func (e example) isHello() bool { return strings.HasPrefix(string(e.Event), `{"type":"hello"`) }
func (e example) isReady() bool { return strings.HasPrefix(string(e.Event), `{"type":"ready"`) }

// testOffer has the names that the examples ask for.
var testOffer = transport.Offer{Instructions: []string{"support"}}

func TestFixture(t *testing.T) {
	for _, e := range fixture(t) {
		name := e.Why
		if name == "" {
			name = string(e.Event)
		}
		t.Run(name, func(t *testing.T) {
			switch {
			case e.From == "client" && e.isHello():
				checkHello(t, e)
			case e.From == "client":
				checkEvent(t, e)
			case e.From == "server" && e.isReady():
				checkReady(t, e)
			case e.From == "server":
				checkMessage(t, e)
			default:
				t.Fatalf("from %q", e.From)
			}
		})
	}
}

func checkHello(t *testing.T, e example) {
	h, err := decodeHello(e.Event)
	if err == nil {
		err = h.Check(testOffer)
	}
	if (err == nil) != e.OK {
		t.Fatalf("%s: %v, want ok %v", e.Event, err, e.OK)
	}
	if err != nil {
		if fe := (*transport.FieldError)(nil); !errors.As(err, &fe) {
			t.Errorf("the error does not name a field: %v", err)
		}
		return
	}
	again, err := decodeHello(appendHello(nil, h))
	if err != nil || !reflect.DeepEqual(again, h) {
		t.Errorf("encoded and decoded: %+v, %v, want %+v", again, err, h)
	}
}

func checkEvent(t *testing.T, e example) {
	var ev, again transport.Event
	err := decodeEvent(e.Event, &ev)
	if e.Ignored {
		if !errors.Is(err, errUnknown) {
			t.Fatalf("%s: %v, want that it is unknown", e.Event, err)
		}
		return
	}
	if (err == nil) != e.OK {
		t.Fatalf("%s: %v, want ok %v", e.Event, err, e.OK)
	}
	if err != nil {
		return
	}
	b, err := appendEvent(nil, &ev)
	if err != nil {
		t.Fatal(err)
	}
	if err := decodeEvent(b, &again); err != nil || !reflect.DeepEqual(again, ev) {
		t.Errorf("encoded as %s and decoded: %+v, %v, want %+v", b, again, err, ev)
	}
	if e.Why == "" {
		sameJSON(t, b, e.Event)
	}
}

func checkReady(t *testing.T, e example) {
	o, err := parseObject(e.Event)
	if err != nil {
		t.Fatal(err)
	}
	r, err := decodeReady(o)
	if err != nil {
		t.Fatal(err)
	}
	sameJSON(t, appendReady(nil, r), e.Event)
}

func checkMessage(t *testing.T, e example) {
	var m transport.Message
	err := decodeMessage(e.Event, &m)
	if e.Ignored {
		if !errors.Is(err, errUnknown) {
			t.Fatalf("%s: %v, want that it is unknown", e.Event, err)
		}
		return
	}
	if (err == nil) != e.OK {
		t.Fatalf("%s: %v, want ok %v", e.Event, err, e.OK)
	}
	if m.Kind == transport.MessageBye {
		sameJSON(t, appendBye(nil, m.Code, m.Text), e.Event)
		return
	}
	b, err := appendMessage(nil, &m)
	if err != nil {
		t.Fatal(err)
	}
	sameJSON(t, b, e.Event)
}

func sameJSON(t *testing.T, got, want []byte) {
	t.Helper()
	var g, w any
	if err := json.Unmarshal(got, &g); err != nil {
		t.Fatalf("%s: %v", got, err)
	}
	if err := json.Unmarshal(want, &w); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(g, w) {
		t.Errorf("encoded %s, want %s", got, want)
	}
}

// TestFixtureIsWhole holds the fixture to what it is for: each kind of event in it, right and
// wrong.
func TestFixtureIsWhole(t *testing.T) {
	good, bad := map[string]int{}, map[string]int{}
	for _, e := range fixture(t) {
		var head struct{ Type string }
		_ = json.Unmarshal(e.Event, &head)
		if e.OK {
			good[e.From+" "+head.Type]++
		} else {
			bad[e.From+" "+head.Type]++
		}
	}
	for _, kind := range []string{"hello", "ack", "mute", "text", "dtmf", "tool_result", "talk", "hold", "consent",
		"bye"} {
		if good["client "+kind] == 0 || bad["client "+kind] == 0 {
			t.Errorf("client %s: %d right and %d wrong examples", kind, good["client "+kind], bad["client "+kind])
		}
	}
	for _, kind := range []string{"ready", "speech", "turn", "transcript", "clear", "mark", "net", "net_graph",
		"tool_call", "tool_cancel", "hold", "consent", "protected", "model", "transfer", "error", "bye"} {
		if good["server "+kind] == 0 {
			t.Errorf("server %s: no example", kind)
		}
	}
}

// TestDocumentIsInFixture reads every JSON example of the document and looks it up.
func TestDocumentIsInFixture(t *testing.T) {
	doc, err := os.ReadFile("../../docs/protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, e := range fixture(t) {
		if e.OK {
			known[string(e.Event)] = true
		}
	}
	found := 0
	for rest := string(doc); ; {
		i := strings.Index(rest, `{"type"`)
		if i < 0 {
			break
		}
		rest = rest[i:]
		var event json.RawMessage
		if err := json.NewDecoder(strings.NewReader(rest)).Decode(&event); err != nil {
			t.Fatalf("not JSON: %.80s...: %v", rest, err)
		}
		if !known[string(event)] {
			t.Errorf("not in testdata/protocol.json: %s", event)
		}
		found++
		rest = rest[len(event):]
	}
	if found < 30 {
		t.Errorf("only %d examples were found in the document", found)
	}
}

// TestDocumentNamesEveryReason keeps the table of close codes in step with the reasons.
func TestDocumentNamesEveryReason(t *testing.T) {
	doc, err := os.ReadFile("../../docs/protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	codes := map[string]string{} // the row of each close code
	for line := range strings.Lines(string(doc)) {
		if cells := strings.Split(line, "|"); len(cells) == 5 {
			codes[strings.TrimSpace(cells[1])] = cells[2]
		}
	}
	for r := transport.ReasonCallerHungUp; r.String() != ""; r++ {
		if r == transport.ReasonPeerLost {
			continue // never on the wire
		}
		code, _ := json.Marshal(r.Code())
		if !strings.Contains(codes[string(code)], "`"+r.String()+"`") {
			t.Errorf("%s is not in the row of %s: %q", r, code, codes[string(code)])
		}
	}
}

package sim

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/voicegw/voicegw/audio"
)

// frame is a message, a pong, or the end of a connection.
type frame struct {
	data   []byte // to send, unless drop
	binary bool   // as a binary frame
	drop   bool   // break the connection instead
	pong   bool   // a pong with the data of a ping
}

// The compact and the spaced form of an audio message. The real service uses the spaced form.
const (
	compactHead = `{"serverContent":{"modelTurn":{"role":"model","parts":[{"inlineData":{` +
		`"mimeType":"audio/pcm;rate=24000","data":"`
	compactTail = `"}}]}}}`
	spacedHead  = `{
  "serverContent": {
    "modelTurn": {
      "parts": [
        {
          "inlineData": {
            "mimeType": "audio/pcm;rate=24000",
            "data": "`
	spacedTail = `"
          }
        }
      ]
    }
  }
}
`
)

// dialect is the form of messages: compact JSON in text frames, or spaced JSON in binary frames.
type dialect struct {
	binary bool
	vertex bool // with the names of Vertex AI
}

func (d dialect) audio(pcm []int16) frame {
	head, tail := compactHead, compactTail
	if d.binary {
		head, tail = spacedHead, spacedTail
	}
	out := make([]byte, 0, len(head)+len(tail)+base64.StdEncoding.EncodedLen(2*len(pcm)))
	out = append(out, head...)
	out = base64.StdEncoding.AppendEncode(out, audio.AppendBytes(nil, pcm))
	return frame{data: append(out, tail...), binary: d.binary}
}

// json returns the frame of a compact JSON text.
func (d dialect) json(compact string) frame {
	if !d.binary {
		return frame{data: []byte(compact)}
	}
	var spaced bytes.Buffer
	if json.Indent(&spaced, []byte(compact), "", "  ") != nil {
		return frame{data: []byte(compact), binary: true} // garbage on purpose
	}
	spaced.WriteByte('\n')
	return frame{data: spaced.Bytes(), binary: true}
}

func (d dialect) content(members ...string) frame {
	return d.json(`{"serverContent":{` + strings.Join(members, ",") + `}}`)
}

func (d dialect) transcript(who, text string) frame {
	return d.content(fmt.Sprintf(`%q:{"text":%s}`, who, quote(text)))
}

// finished is a transcript that is marked as finished.
func (d dialect) finished(who, text string) frame {
	return d.content(fmt.Sprintf(`%q:{"text":%s,"finished":true}`, who, quote(text)))
}

// turnComplete includes the usage, as the real service does.
func (d dialect) turnComplete(u usage) frame {
	name := "response"
	if d.vertex {
		name = "candidates"
	}
	return d.json(fmt.Sprintf(`{"serverContent":{"turnComplete":true},"usageMetadata":{"promptTokenCount":%d,`+
		`"%sTokenCount":%d,"totalTokenCount":%d,"promptTokensDetails":[{"modality":"AUDIO","tokenCount":%d}],`+
		`"%sTokensDetails":[{"modality":"AUDIO","tokenCount":%d}]}}`,
		u.prompt, name, u.response, u.prompt+u.response, u.prompt, name, u.response))
}

func (d dialect) resumption(handle string) frame {
	if handle == "" {
		return d.json(`{"sessionResumptionUpdate":{}}`)
	}
	return d.json(`{"sessionResumptionUpdate":{"newHandle":` + quote(handle) + `,"resumable":true}}`)
}

func (d dialect) goAway(left time.Duration) frame {
	return d.json(`{"goAway":{"timeLeft":"` + strconv.FormatFloat(left.Seconds(), 'f', -1, 64) + `s"}}`)
}

func quote(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// usage counts tokens as the real service does for audio: 25 a second. The prompt of a turn is the
// whole conversation before its response.
type usage struct {
	prompt, response int
}

func tokens(d time.Duration) int { return int(d * 25 / time.Second) }

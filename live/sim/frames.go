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

// frame is one thing to do on the wire.
type frame struct {
	data   []byte // to send, unless drop
	binary bool   // as a binary frame
	drop   bool   // break the connection instead
	pong   bool   // data is that of a ping to answer
}

// Compact and spaced forms of an audio message; the real service has been seen to use the latter.
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

// tongue is how a connection speaks: compact JSON in text frames, or spaced JSON in binary ones.
type tongue struct {
	binary bool
	vertex bool // with Vertex AI's names
}

func (t tongue) audio(pcm []int16) frame {
	head, tail := compactHead, compactTail
	if t.binary {
		head, tail = spacedHead, spacedTail
	}
	out := make([]byte, 0, len(head)+len(tail)+base64.StdEncoding.EncodedLen(2*len(pcm)))
	out = append(out, head...)
	out = base64.StdEncoding.AppendEncode(out, audio.AppendBytes(nil, pcm))
	return frame{data: append(out, tail...), binary: t.binary}
}

// json sends a compact JSON text.
func (t tongue) json(compact string) frame {
	if !t.binary {
		return frame{data: []byte(compact)}
	}
	var spaced bytes.Buffer
	if json.Indent(&spaced, []byte(compact), "", "  ") != nil {
		return frame{data: []byte(compact), binary: true} // garbage on purpose
	}
	spaced.WriteByte('\n')
	return frame{data: spaced.Bytes(), binary: true}
}

func (t tongue) content(members ...string) frame {
	return t.json(`{"serverContent":{` + strings.Join(members, ",") + `}}`)
}

func (t tongue) transcript(who, text string) frame {
	return t.content(fmt.Sprintf(`%q:{"text":%s}`, who, quote(text)))
}

// finished is a transcript that is called so.
func (t tongue) finished(who, text string) frame {
	return t.content(fmt.Sprintf(`%q:{"text":%s,"finished":true}`, who, quote(text)))
}

// turnComplete carries the usage, as the real one may.
func (t tongue) turnComplete(u usage) frame {
	name := "response"
	if t.vertex {
		name = "candidates"
	}
	return t.json(fmt.Sprintf(`{"serverContent":{"turnComplete":true},"usageMetadata":{"promptTokenCount":%d,`+
		`"%sTokenCount":%d,"totalTokenCount":%d,"%sTokensDetails":[{"modality":"AUDIO","tokenCount":%d}]}}`,
		u.prompt, name, u.response, u.prompt+u.response, name, u.response))
}

func (t tongue) resumption(handle string) frame {
	if handle == "" {
		return t.json(`{"sessionResumptionUpdate":{}}`)
	}
	return t.json(`{"sessionResumptionUpdate":{"newHandle":` + quote(handle) + `,"resumable":true}}`)
}

func (t tongue) goAway(left time.Duration) frame {
	return t.json(`{"goAway":{"timeLeft":"` + strconv.FormatFloat(left.Seconds(), 'f', -1, 64) + `s"}}`)
}

func quote(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// usage counts tokens the way the real service does for audio: 25 a second.
type usage struct {
	prompt, response int
}

func tokens(d time.Duration) int { return int(d * 25 / time.Second) }

package openai

import (
	"slices"

	"github.com/voicegw/voicegw/transport"
)

// Limits of the items that a call remembers. Beyond them the oldest is forgotten: it cannot be
// retrieved any more.
const (
	itemsMax     = 256
	itemBytesMax = 128 << 10 // of text in all items
)

// Kinds and roles of items.
const (
	kindMessage = "message"
	kindCall    = "function_call"
	kindOutput  = "function_call_output"

	roleUser      = "user"
	roleAssistant = "assistant"
	roleSystem    = "system"
)

// item is an item of the conversation.
type item struct {
	id, kind, role string
	status         string
	audio          bool   // the content is audio, and text its transcript
	text           string // also the arguments of a call, and the output of one
	callID, name   string // of a call

	generation uint64 // of a reply's audio,
	part       int    // and how often that was cut before the item
	unsent     bool   // the model has not got it yet: it waits for response.create,
	samples    int    // with so much audio
}

// list is the conversation in order.
type list struct {
	items []*item
	bytes int
}

// find returns the item with an id, or nil.
func (l *list) find(id string) *item {
	if i := l.index(id); i >= 0 {
		return l.items[i]
	}
	return nil
}

func (l *list) index(id string) int {
	return slices.IndexFunc(l.items, func(it *item) bool { return it.id == id })
}

// last returns the id of the last item, "" for none.
func (l *list) last() string {
	if len(l.items) == 0 {
		return ""
	}
	return l.items[len(l.items)-1].id
}

// previous returns the id of the item before an item, "" for none.
func (l *list) previous(id string) string {
	if i := l.index(id); i > 0 {
		return l.items[i-1].id
	}
	return ""
}

// insert puts an item behind another one, "" for the front. Without that one it puts it at the end.
func (l *list) insert(it *item, after string) {
	i := len(l.items)
	if j := l.index(after); j >= 0 || after == "" {
		i = j + 1
	}
	l.items = slices.Insert(l.items, i, it)
	l.bytes += len(it.text)
	l.forget(it)
}

// say adds to the text of an item, within the limit of a text.
func (l *list) say(it *item, words string) {
	if room := transport.TextCharsMax - len(it.text); room > 0 {
		words = transport.Cut(words, room)
		it.text += words
		l.bytes += len(words)
		l.forget(it)
	}
}

// remove takes an item out.
func (l *list) remove(it *item) {
	if i := l.index(it.id); i >= 0 {
		l.items = slices.Delete(l.items, i, i+1)
		l.bytes -= len(it.text)
	}
}

// forget takes out the oldest items until all fit, except one and those that the model has not got.
func (l *list) forget(but *item) {
	for i := 0; i < len(l.items) && (len(l.items) > itemsMax || l.bytes > itemBytesMax); {
		if l.items[i] == but || l.items[i].unsent {
			i++
			continue
		}
		l.remove(l.items[i])
	}
}

// describe returns the item as a JSON object. The beta had other names for what the model says.
func (it *item) describe(beta bool) object {
	o := object{"id": it.id, "object": "realtime.item", "type": it.kind, "status": it.status}
	switch it.kind {
	case kindCall:
		o["call_id"], o["name"], o["arguments"] = it.callID, it.name, it.text
	case kindOutput:
		o["call_id"], o["output"] = it.callID, it.text
	default:
		o["role"], o["content"] = it.role, it.content(beta)
	}
	return o
}

func (it *item) content(beta bool) []object {
	way, kind := "output_", "text"
	if it.role != roleAssistant {
		way = "input_"
	} else if beta {
		way = ""
	}
	switch {
	case it.status == statusInProgress:
		return []object{}
	case !it.audio:
		return []object{{"type": way + kind, "text": it.text}}
	case it.role == roleAssistant:
		return []object{{"type": way + "audio", "transcript": it.text}}
	case it.text == "":
		return []object{{"type": way + "audio", "transcript": nil}}
	}
	return []object{{"type": way + "audio", "transcript": it.text}}
}

package mediastream

import (
	"bytes"
	"encoding/xml"
	"maps"
	"slices"
	"strings"
)

// parameterMax is the maximum number of bytes of all parameters of a stream together; Twilio takes
// 500 for each.
const parameterMax = 500

// twimlConnect leads a call to the stream. Twilio calls after when the stream has ended.
func twimlConnect(stream, after string, params map[string]string) []byte {
	b := twimlOpen()
	b.WriteString(`<Connect`)
	attribute(b, "action", after)
	b.WriteString(`><Stream`)
	attribute(b, "url", stream)
	b.WriteString(`>`)
	for _, name := range slices.Sorted(maps.Keys(params)) {
		b.WriteString(`<Parameter`)
		attribute(b, "name", name)
		attribute(b, "value", params[name])
		b.WriteString(`/>`)
	}
	b.WriteString(`</Stream></Connect>`)
	return twimlClose(b)
}

// twimlBusy rejects the call; the caller hears a busy tone and is not charged.
func twimlBusy() []byte {
	b := twimlOpen()
	b.WriteString(`<Reject reason="busy"/>`)
	return twimlClose(b)
}

// twimlHangup ends the call.
func twimlHangup() []byte {
	b := twimlOpen()
	b.WriteString(`<Hangup/>`)
	return twimlClose(b)
}

// twimlRedirect continues with other TwiML.
func twimlRedirect(address string) []byte {
	b := twimlOpen()
	b.WriteString(`<Redirect>`)
	_ = xml.EscapeText(b, []byte(address))
	b.WriteString(`</Redirect>`)
	return twimlClose(b)
}

// twimlDial connects the caller with target, which dialVerb accepts.
func twimlDial(target string) []byte {
	verb, _ := dialVerb(target)
	b := twimlOpen()
	b.WriteString(`<Dial><` + verb + `>`)
	_ = xml.EscapeText(b, []byte(target))
	b.WriteString(`</` + verb + `></Dial>`)
	return twimlClose(b)
}

// dialVerb returns TwiML's noun for a target: a telephone number or a SIP address. ok is false for
// anything else.
func dialVerb(target string) (verb string, ok bool) {
	if address, sip := strings.CutPrefix(target, "sip:"); sip {
		odd := func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`<>"`, r) }
		plain := !strings.ContainsFunc(address, odd)
		return "Sip", plain && strings.Contains(address, "@") && len(target) <= 255
	}
	digits := strings.TrimPrefix(target, "+")
	return "Number", len(digits) >= 2 && len(digits) <= 32 && strings.Trim(digits, "0123456789*#") == ""
}

func twimlOpen() *bytes.Buffer {
	return bytes.NewBufferString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n<Response>")
}

func twimlClose(b *bytes.Buffer) []byte {
	b.WriteString("</Response>\n")
	return b.Bytes()
}

func attribute(b *bytes.Buffer, name, value string) {
	b.WriteString(` ` + name + `="`)
	_ = xml.EscapeText(b, []byte(value))
	b.WriteString(`"`)
}

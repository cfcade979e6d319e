package settings

import "strings"

// keyRows are the keys of a telephone by which callers decide.
func (s *Settings) keyRows() []Row {
	k := &s.gateway.Keys
	key := func(name string, to *string, def, doc string) Row {
		return textRow("keys."+name, to, def, "a key of a telephone, 0 to 9, * or #, in quotes", doc,
			func(v string) bool { return len(v) < 2 && strings.Contains("0123456789*#ABCD", v) })
	}
	return []Row{
		s.needsConsent(key("consent", &k.Consent, "none", "callers press it to agree to be heard")),
		key("protect", &k.Protect, "none", "callers press it to begin protected input: nothing that they say or press "+
			"goes to the model then"),
		key("protect_end", &k.ProtectEnd, "# with keys.protect", "callers press it to end what keys.protect began; it may "+
			"be the same key").onlyIf(func() bool { return k.Protect != "" }, "keys.protect is none"),
	}
}

// checkKeys refuses keys that contradict each other.
func (r *reader) checkKeys() {
	k := &r.gateway.Keys
	if !r.gateway.Net.Consent {
		k.Consent = "" // it is noted
	}
	switch {
	case k.Protect == "":
		k.ProtectEnd = ""
	case k.ProtectEnd == "":
		k.ProtectEnd = "#"
	}
	if k.Consent != "" && k.Consent == k.Protect {
		r.refuse("keys.protect", "another key than keys.consent")
	}
}

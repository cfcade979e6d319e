package voicegw

import (
	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/event"
)

func drawing(*petri.Program) string { return "" }

func tee(s []event.Store) event.Store { return s[0] }

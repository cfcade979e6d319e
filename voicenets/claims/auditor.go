package claims

import (
	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/voicenets"
)

// Places of the auditor.
const (
	seenHold      petri.Place[petri.Unit] = "seen_hold"       // the peer was notified that the call is on hold
	seenNoHold    petri.Place[petri.Unit] = "seen_no_hold"    // the peer was notified of its end, or of no hold yet
	seenProtect   petri.Place[petri.Unit] = "seen_protect"    // the same for protected input
	seenNoProtect petri.Place[petri.Unit] = "seen_no_protect" //
	seenDown      petri.Place[petri.Unit] = "seen_down"       // the same for the connection that is being replaced
	seenUp        petri.Place[petri.Unit] = "seen_up"         //
	seenWait      petri.Place[petri.Unit] = "seen_wait"       // the queue to the model holds input of the caller
	seenDial      petri.Place[petri.Unit] = "seen_dial"       // the session asked for a connection and has used none since
	seenLink      petri.Place[petri.Unit] = "seen_link"       // a connection is in use
	mislinked     petri.Place[petri.Unit] = "mislinked"       // the outputs about the connection contradict each other
	unsound       petri.Place[petri.Unit] = "unsound"         // the outputs about hold and protected input do
)

// auditor is an automaton beside the watcher. It follows the session's outputs about the call
// itself and about its connection to the model.
func auditor() *petri.Net {
	a := &watch{level: 100, broken: unsound, n: &petri.Net{
		Name: "auditor",
		Ports: []petri.AnyPlace{voicenets.NotifyMode, voicenets.Dial, voicenets.UseLink, voicenets.CloseLink,
			voicenets.HoldUplink, voicenets.ReleaseUplink},
		Init: []petri.Token{seenNoHold.Token(petri.Unit{}), seenNoProtect.Token(petri.Unit{}),
			seenUp.Token(petri.Unit{})},
		Caps: caps(1, seenDial, seenLink, seenWait, unsound, mislinked),
	}}
	a.turn("hold", voicenets.NotifyMode.Is(voicenets.HoldStarted), seenNoHold, seenHold)
	a.turn("unhold", voicenets.NotifyMode.Is(voicenets.HoldEnded), seenHold, seenNoHold)
	a.turn("protect", voicenets.NotifyMode.Is(voicenets.ProtectStarted), seenNoProtect, seenProtect)
	a.turn("unprotect", voicenets.NotifyMode.Is(voicenets.ProtectEnded), seenProtect, seenNoProtect)
	a.see("wait", petri.Arcs{voicenets.HoldUplink}, petri.Arcs{seenWait}, seenWait)
	a.see("release", petri.Arcs{voicenets.ReleaseUplink}, petri.Arcs{seenWait})
	a.broken = mislinked
	a.turn("lost", voicenets.NotifyMode.Is(voicenets.LinkLost), seenUp, seenDown, seenLink)
	a.turn("back", voicenets.NotifyMode.Is(voicenets.LinkBack), seenDown, seenUp)
	a.see("other_mode", petri.Arcs{voicenets.NotifyMode}, nil)
	a.see("wrong_dial_in_use", petri.Arcs{voicenets.Dial, seenLink}, petri.Arcs{mislinked}, mislinked)
	a.see("dial", petri.Arcs{voicenets.Dial}, petri.Arcs{seenDial}, seenDial)
	a.see("wrong_second_use", petri.Arcs{voicenets.UseLink, seenLink}, petri.Arcs{mislinked}, mislinked)
	a.turn("use", voicenets.UseLink, seenDial, seenLink, seenLink)
	a.see("close", petri.Arcs{voicenets.CloseLink}, petri.Arcs{seenLink})
	return a.n
}

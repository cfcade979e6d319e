package voicenets

import "github.com/voicegw/voicegw/petri"

// Places of the auditor.
const (
	seenHold      petri.Place[petri.Unit] = "seen_hold"       // the peer was told that the call is on hold
	seenNoHold    petri.Place[petri.Unit] = "seen_no_hold"    // that it is not, or nothing yet
	seenProtect   petri.Place[petri.Unit] = "seen_protect"    // the same of protected input
	seenNoProtect petri.Place[petri.Unit] = "seen_no_protect" //
	seenDown      petri.Place[petri.Unit] = "seen_down"       // the same of the connection that is being replaced
	seenUp        petri.Place[petri.Unit] = "seen_up"         //
	seenWait      petri.Place[petri.Unit] = "seen_wait"       // the queue to the model holds what is the caller's
	seenDial      petri.Place[petri.Unit] = "seen_dial"       // a connection was asked for, and none was there since
	seenLink      petri.Place[petri.Unit] = "seen_link"       // a connection is in use
	mislinked     petri.Place[petri.Unit] = "mislinked"       // what was put out about the connection makes no sense
	unsound       petri.Place[petri.Unit] = "unsound"         // the same of hold and protected input
)

// auditor is the watcher's colleague: it follows what a session says of the
// call itself and of its connection to the model.
func auditor() *petri.Net {
	a := &watch{level: 100, broken: unsound, n: &petri.Net{
		Name:  "auditor",
		Ports: []petri.AnyPlace{TellMode, Dial, UseLink, CloseLink, HoldUplink, ReleaseUplink},
		Init: []petri.Token{seenNoHold.Token(petri.Unit{}), seenNoProtect.Token(petri.Unit{}),
			seenUp.Token(petri.Unit{})},
		Caps: caps(1, seenDial, seenLink, seenWait, unsound, mislinked),
	}}
	a.turn("hold", TellMode.Is(HoldStarted), seenNoHold, seenHold)
	a.turn("unhold", TellMode.Is(HoldEnded), seenHold, seenNoHold)
	a.turn("protect", TellMode.Is(ProtectStarted), seenNoProtect, seenProtect)
	a.turn("unprotect", TellMode.Is(ProtectEnded), seenProtect, seenNoProtect)
	a.see("wait", petri.Arcs{HoldUplink}, petri.Arcs{seenWait}, seenWait)
	a.see("release", petri.Arcs{ReleaseUplink}, petri.Arcs{seenWait})
	a.broken = mislinked
	a.turn("lost", TellMode.Is(LinkLost), seenUp, seenDown, seenLink)
	a.turn("back", TellMode.Is(LinkBack), seenDown, seenUp)
	a.see("other_mode", petri.Arcs{TellMode}, nil)
	a.see("wrong_dial_in_use", petri.Arcs{Dial, seenLink}, petri.Arcs{mislinked}, mislinked)
	a.see("dial", petri.Arcs{Dial}, petri.Arcs{seenDial}, seenDial)
	a.see("wrong_second_use", petri.Arcs{UseLink, seenLink}, petri.Arcs{mislinked}, mislinked)
	a.turn("use", UseLink, seenDial, seenLink, seenLink)
	a.see("close", petri.Arcs{CloseLink}, petri.Arcs{seenLink})
	return a.n
}

// Package doortest is a world for tests of doors: an embedded model, a gateway in front of it, a door of the gateway on
// a loopback port, and judges of what a caller heard.
//
//	w := doortest.New(t, doortest.Plan{Door: func(l transport.Lines) (doortest.Door, error) { return
//
// x.New(x.Config{Lines: l}) }})
//
//	... talk to w.URL ...
//	doortest.Echo(t, heard, "question")
package doortest

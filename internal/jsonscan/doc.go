// Package jsonscan reads JSON without allocating, for messages that arrive many times a second.
//
// A [Scanner] reads one token at a time. It takes only the simplest form of a token and reports
// false for everything else, so that the caller can leave the message to encoding/json. An [Object]
// ranges over the members of any object. Both return parts of the input and copy nothing:
//
//	s := jsonscan.New(message)
//	if !s.Skip('{') || !s.Is("audio") {
//		return slow(message)
//	}
//	data, ok := s.Text()
package jsonscan

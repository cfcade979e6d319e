// Package wsclient makes a call as a person would. It speaks a recording into a gateway and plays
// the reply on a playout clock. It may interrupt the reply, or add the reply's echo to the caller
// input. In a call with push to talk it holds the button while it speaks. It reports what was
// audible and how long the caller waited. It is the engine of the command `voicegw call`.
//
// [Call] is the whole package. It plays nothing and opens no device: [Report.Heard] is what would
// have been audible.
package wsclient

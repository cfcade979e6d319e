// Package tools has the built-in tools of workflows: http_request, transform, condition, alert and storage.
//
//	list, err := tools.New(tools.Config{Client: client, Root: "/var/lib/voicegw/files"})
//
// A result has the key status. It is "success", or "error" with the reason in error. Where an argument is an object,
// a string with its JSON is accepted as well, because models often write one.
package tools

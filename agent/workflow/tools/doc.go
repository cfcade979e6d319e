// Package tools has the built-in tools of workflows: http_request, transform, condition, alert and storage.
//
//	folder, err := tools.OpenFolder("/var/lib/voicegw/files", 0)
//	list, err := tools.New(tools.Config{Client: client, Folder: folder})
//
// A result has the key status. It is "success", or "error" with the reason in error. Where an argument is an object,
// a string with its JSON is accepted as well, because models often write one.
package tools

// Package admission is what the http.Handler endpoints share: it decides which requests are
// admitted and answers the refused ones.
//
// [Names] says under which names clients may address a server and which pages may call it.
// [Upgrade] and [Refuse] check and answer requests, a [Backlog] bounds the handshakes of unproven
// clients, [Visits] closes an endpoint, and [Abandon] drops the undelivered data of a connection.
package admission

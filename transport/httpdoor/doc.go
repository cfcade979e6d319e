// Package httpdoor has what doors share that take calls as an http.Handler: whose requests are let in, how one is
// refused, and the connection under a WebSocket.
//
// [Names] says under which names a server may be addressed and which pages may call it, [Refuse] and [RefuseLine]
// answer those that may not, a [Backlog] bounds those that have not shown who they are, [Visits] closes a door, and a
// [Hijacker] puts a bounded [Link] under a WebSocket, which a [Pinger] keeps awake.
package httpdoor

// Package jetstream is an engine of package journal on NATS JetStream: on a server of its own in this
// process, on a node of a cluster in this process, or on servers elsewhere.
//
//	engine, err := jetstream.Open(ctx, jetstream.Config{Dir: "data"})
//
// A log is a subject of one of Shards streams, a commit of a Writer one message. The server refuses a
// message if the subject has another last message than the owner knows: that is the fence. A commit whose
// answer is lost is looked up before anything else is written.
//
// The server in this process syncs every write to the disk before it confirms it, which is not the
// default of NATS. A cluster keeps each message on Replicas nodes.
package jetstream

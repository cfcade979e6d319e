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
//
// Each message has a checksum, and numbers that continue those of the message before. A reader that finds
// damage in the middle of a log says so with ErrCorrupt. Damage at the end shows only while the index of the
// server is whole: when it reads its files anew after a crash, the server cuts a file at the first message
// that is damaged, and every log of the shard ends there. Replicas protect from that.
package jetstream

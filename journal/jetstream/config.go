package jetstream

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/voicegw/voicegw/journal"
)

// Shards is the number of streams that logs are spread over. Each syncs its writes by itself.
const Shards = 4

// maxPayload is the largest message of a server of ours, in bytes: a full window of a Writer, and more.
const maxPayload = 8 << 20

// Config says where the logs are: in Dir or at URL, one of them.
type Config struct {
	// Dir is the directory of the server in this process. One process at a time may use it.
	Dir string
	// Cluster makes that server a node of a cluster.
	Cluster *Cluster
	// URL is the address of servers elsewhere, such as "nats://user:password@host:4222".
	URL string
	// Replicas is how many nodes keep each message: 1, 3 or 5. Default 1, or 3 with Cluster.
	Replicas int
	// Timeout limits one request to a server. Default 5 s.
	Timeout time.Duration

	password string // of the server in this process, if it has one
}

const clientUser = "voicegw"

// Cluster is the place of a node among others.
type Cluster struct {
	Name   string   // of the cluster; the same for all nodes
	Node   string   // of this node; unique and the same after a restart
	Listen string   // host and port for the other nodes
	Routes []string // addresses of other nodes, as "nats://host:port"
	// Secret keeps others out: nodes with another one cannot join. It is required unless Listen is a
	// loopback address.
	Secret string
}

func (c *Config) check() error {
	switch {
	case (c.Dir == "") == (c.URL == ""):
		return errors.New("jetstream: give Config.Dir or Config.URL, one of them")
	case c.Replicas != 0 && c.Replicas != 1 && c.Replicas != 3 && c.Replicas != 5:
		return fmt.Errorf("jetstream: Config.Replicas is %d; it may be 1, 3 or 5", c.Replicas)
	case c.Dir != "" && c.Cluster == nil && c.Replicas > 1:
		return errors.New("jetstream: Config.Replicas needs a cluster; set Config.Cluster")
	case c.Cluster != nil && (c.Cluster.Name == "" || c.Cluster.Node == ""):
		return errors.New("jetstream: Config.Cluster needs a Name and a Node")
	}
	if c.Replicas == 0 {
		c.Replicas = 1
		if c.Cluster != nil {
			c.Replicas = 3
		}
	}
	if c.Timeout <= 0 {
		c.Timeout = 5 * time.Second
	}
	return nil
}

// serve starts the server in this process.
func (c *Config) serve() (*server.Server, func(), error) {
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return nil, nil, fmt.Errorf("jetstream: %w", err)
	}
	unlock, err := lock(filepath.Join(c.Dir, "lock"))
	if err != nil {
		return nil, nil, err
	}
	o := &server.Options{DontListen: true, JetStream: true, StoreDir: c.Dir, SyncAlways: true, NoSigs: true, NoLog: true,
		MaxPayload: maxPayload, JetStreamMaxMemory: -1, JetStreamMaxStore: -1}
	if c.Cluster != nil {
		if err := c.Cluster.options(o); err != nil {
			unlock()
			return nil, nil, err
		}
	}
	c.password = o.Password
	s, err := server.NewServer(o)
	if err != nil {
		unlock()
		return nil, nil, fmt.Errorf("jetstream: %w", err)
	}
	s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		s.Shutdown()
		unlock()
		return nil, nil, fmt.Errorf("jetstream: the server in %s did not start within 10 s", c.Dir)
	}
	if !s.JetStreamEnabled() {
		s.Shutdown()
		unlock()
		return nil, nil, fmt.Errorf("jetstream: the server cannot use %s: is it a directory of voicegw that it may write?",
			c.Dir)
	}
	return s, unlock, nil
}

func (c *Cluster) options(o *server.Options) error {
	host, port, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return fmt.Errorf("jetstream: Config.Cluster.Listen is %q; give host:port: %w", c.Listen, err)
	}
	if ip := net.ParseIP(host); c.Secret == "" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("jetstream: Config.Cluster.Secret is empty, and %s is no loopback address: everybody could join",
			host)
	}
	o.ServerName, o.Cluster.Name, o.Cluster.Host = c.Node, c.Name, host
	if o.Cluster.Port, err = strconv.Atoi(port); err != nil {
		return fmt.Errorf("jetstream: Config.Cluster.Listen is %q; the port is no number", c.Listen)
	}
	if c.Secret != "" {
		o.Cluster.Username, o.Cluster.Password = "node", c.Secret
	}
	for _, r := range c.Routes {
		u, err := url.Parse(r)
		if err != nil || u.Host == "" {
			return fmt.Errorf("jetstream: Config.Cluster.Routes has %q; give nats://host:port", r)
		}
		if c.Secret != "" {
			u.User = url.UserPassword("node", c.Secret)
		}
		o.Routes = append(o.Routes, u)
	}
	// NATS does not connect the nodes before clients can connect. Only this process knows the password.
	o.DontListen, o.Host, o.Port, o.Cluster.NoAdvertise = false, "127.0.0.1", server.RANDOM_PORT, true
	o.Username, o.Password = clientUser, rand.Text()
	o.LameDuckGracePeriod = 100 * time.Millisecond // for its clients to go: the engine, which closes itself
	return nil
}

// durability is what a confirmed record survives.
func (c *Config) durability() journal.Durability {
	switch {
	case c.Replicas > 1:
		return journal.Replicated
	case c.Dir != "":
		return journal.PowerLoss
	}
	return journal.OSCrash // whether the server elsewhere syncs is its own matter
}

// connect connects to the servers.
func (c *Config) connect(s *server.Server) (*nats.Conn, error) {
	address := c.URL
	opts := []nats.Option{nats.Name("voicegw journal"), nats.MaxReconnects(-1), nats.ReconnectWait(200 * time.Millisecond),
		nats.Timeout(c.Timeout)}
	if s != nil {
		address = ""
		opts = append(opts, nats.InProcessServer(s))
		if c.password != "" {
			opts = append(opts, nats.UserInfo(clientUser, c.password))
		}
	}
	nc, err := nats.Connect(address, opts...)
	if err != nil {
		return nil, fmt.Errorf("jetstream: connect: %w", err)
	}
	if most := nc.MaxPayload(); most < journal.RecordMax+headerMax {
		nc.Close()
		return nil, fmt.Errorf("jetstream: the server takes messages of %d bytes; set its max_payload to %d or more", most,
			maxPayload)
	}
	return nc, nil
}

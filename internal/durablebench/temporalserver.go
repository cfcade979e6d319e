package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"go.temporal.io/server/common/authorization"
	"go.temporal.io/server/common/cluster"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/dynamicconfig"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/metrics"
	"go.temporal.io/server/common/persistence/sql/sqlplugin/postgresql"
	sqliteplugin "go.temporal.io/server/common/persistence/sql/sqlplugin/sqlite"
	postgresschema "go.temporal.io/server/schema/postgresql/v12"
	"go.temporal.io/server/schema/sqlite"
	server "go.temporal.io/server/temporal"
	schematool "go.temporal.io/server/tools/common/schema"
	sqltool "go.temporal.io/server/tools/sql"
)

const (
	namespace = "default"
	loopback  = "127.0.0.1"
	// shards is what Temporal's own configuration for development with a database has.
	shards = 4
)

// serve starts the server and returns its address.
func (t *temporal) serve(ctx context.Context) (string, error) {
	store, seen, err := t.stores(ctx)
	if err != nil {
		return "", err
	}
	cfg := &config.Config{Persistence: config.Persistence{DefaultStore: "main", VisibilityStore: "seen",
		NumHistoryShards: shards, DataStores: map[string]config.DataStore{"main": {SQL: store}, "seen": {SQL: seen}}}}
	ports, err := t.ports()
	if err != nil {
		return "", err
	}
	address := fmt.Sprintf("%s:%d", loopback, ports["frontend"][0])
	configure(cfg, ports, address)
	ns, err := sqlite.NewNamespaceConfig(cfg.ClusterMetadata.CurrentClusterName, namespace, false, nil)
	if err != nil {
		return "", err
	}
	if err := sqlite.CreateNamespaces(store, ns); err != nil { // in PostgreSQL, too
		return "", err
	}
	t.server, err = server.NewServer(server.WithConfig(cfg), server.ForServices(server.DefaultServices),
		server.WithLogger(log.NewNoopLogger()), server.WithCustomMetricsHandler(metrics.NoopMetricsHandler),
		server.WithAuthorizer(authorization.NewNoopAuthorizer()),
		server.WithDynamicConfigClient(dynamicconfig.StaticClient{}))
	if err != nil {
		return "", err
	}
	return address, t.server.Start()
}

// ports are two for each service of the server. The next process gets the same: the server would otherwise wait for
// those of the last one.
func (t *temporal) ports() (map[string][2]int, error) {
	file := filepath.Join(t.dir, "ports")
	ports := map[string][2]int{}
	b, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(b, &ports)
		return ports, err
	}
	for _, name := range server.DefaultServices {
		pair := [2]int{}
		for i := range pair {
			if pair[i], err = freePort(); err != nil {
				return nil, err
			}
		}
		ports[name] = pair
	}
	if b, err = json.Marshal(ports); err != nil {
		return nil, err
	}
	return ports, os.WriteFile(file, b, 0o600)
}

// configure completes the configuration of a cluster of one.
func configure(cfg *config.Config, ports map[string][2]int, address string) {
	cfg.Services = map[string]config.Service{}
	for name, pair := range ports {
		cfg.Services[name] = config.Service{RPC: config.RPC{GRPCPort: pair[0], MembershipPort: pair[1],
			BindOnIP: loopback}}
	}
	cfg.Global.Membership = config.Membership{MaxJoinDuration: 30 * time.Second, BroadcastAddress: loopback}
	cfg.ClusterMetadata = &cluster.Config{FailoverVersionIncrement: 10, MasterClusterName: "active",
		CurrentClusterName: "active", ClusterInformation: map[string]cluster.ClusterInformation{
			"active": {Enabled: true, InitialFailoverVersion: 1, RPCAddress: address}}}
	cfg.DCRedirectionPolicy.Policy = "noop"
	cfg.Archival.History.State, cfg.Archival.Visibility.State = "disabled", "disabled"
	cfg.NamespaceDefaults.Archival.History.State = "disabled"
	cfg.NamespaceDefaults.Archival.Visibility.State = "disabled"
	cfg.PublicClient.HostPort = address
}

// stores makes the databases, unless they are there.
func (t *temporal) stores(ctx context.Context) (store, seen *config.SQL, err error) {
	if t.database != nil {
		return t.postgres(ctx)
	}
	cfg := t.sqlite()
	if _, err := os.Stat(cfg.DatabaseName); err == nil {
		return cfg, cfg, nil
	}
	if err := os.MkdirAll(t.dir, 0o700); err != nil {
		return nil, nil, err
	}
	return cfg, cfg, sqlite.SetupSchema(cfg)
}

// sqlite is a database that syncs its log at each commit. It has one connection, the default: with more, commits get in
// each other's way.
func (t *temporal) sqlite() *config.SQL {
	return &config.SQL{PluginName: sqliteplugin.PluginName, DatabaseName: filepath.Join(t.dir, "temporal.db"),
		ConnectAttributes: map[string]string{"mode": "rwc", "journal_mode": "wal", "synchronous": "full"}}
}

// postgres makes the tables.
func (t *temporal) postgres(ctx context.Context) (store, seen *config.SQL, err error) {
	if err := t.database.start(ctx, t.dir); err != nil {
		return nil, nil, err
	}
	made := [2]*config.SQL{}
	for i, schema := range []struct{ name, version string }{{"temporal", postgresschema.Version},
		{"visibility", postgresschema.VisibilityVersion}} {
		cfg := &config.SQL{PluginName: postgresql.PluginNamePGX, DatabaseName: "postgres", User: "bench",
			Password: "bench", ConnectProtocol: "tcp", ConnectAddr: t.database.address()}
		if err := withTool(cfg, func(c *sqltool.Connection) error { return c.CreateDatabase(schema.name) }); err != nil {
			return nil, nil, err
		}
		cfg.DatabaseName = schema.name
		err := withTool(cfg, func(c *sqltool.Connection) error {
			return schematool.NewSetupSchemaTask(c, &schematool.SetupConfig{
				SchemaName: "postgresql/v12/" + schema.name, InitialVersion: schema.version}, log.NewNoopLogger()).Run()
		})
		if err != nil {
			return nil, nil, err
		}
		cfg.MaxConns, cfg.MaxIdleConns = 20, 20 // as in Temporal's own configuration for development
		made[i] = cfg
	}
	return made[0], made[1], nil
}

// withTool does something with a database.
func withTool(cfg *config.SQL, do func(*sqltool.Connection) error) error {
	c, err := sqltool.NewConnection(cfg, log.NewNoopLogger())
	if err != nil {
		return err
	}
	defer c.Close()
	return do(c)
}

// dsn opens the database of SQLite with the settings that the server has.
func (t *temporal) dsn() (*sql.DB, error) {
	return sql.Open("sqlite", "file:"+t.sqlite().DatabaseName+
		"?mode=rwc&_pragma=journal_mode=wal&_pragma=synchronous=full&_pragma=busy_timeout=5000")
}

// durable requires the settings that sync each commit. SQLite has some of them per connection: this one is opened as
// the server opens its own. The counting of syncs shows it.
func (t *temporal) durable(ctx context.Context) (string, error) {
	if t.database != nil {
		return t.database.durable(ctx)
	}
	db, err := t.dsn()
	if err != nil {
		return "", err
	}
	defer func() { _ = db.Close() }()
	mode, synchronous := "", 0
	if err := errors.Join(db.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&mode),
		db.QueryRowContext(ctx, "PRAGMA synchronous").Scan(&synchronous)); err != nil {
		return "", err
	}
	if mode != "wal" || synchronous != 2 {
		return "", fmt.Errorf("SQLite has journal_mode=%s synchronous=%d", mode, synchronous)
	}
	return "SQLite journal_mode=wal synchronous=full", nil
}

// stored is the size of the pages in use.
func (t *temporal) stored(ctx context.Context) (int64, error) {
	if t.database != nil {
		return t.database.stored(ctx)
	}
	db, err := t.dsn()
	if err != nil {
		return 0, err
	}
	defer func() { _ = db.Close() }()
	n := int64(0)
	err = db.QueryRowContext(ctx, `SELECT (p.page_count - f.freelist_count) * s.page_size
		FROM pragma_page_count p, pragma_freelist_count f, pragma_page_size s`).Scan(&n)
	return n, err
}

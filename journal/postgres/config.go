package postgres

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// formatVersion is that of the tables.
const formatVersion = 1

// Config says where the logs are.
type Config struct {
	// URL is the address of the server and its database, as "postgres://user:password@host:5432/database" or
	// "host=... user=...". The environment gives what it leaves out, as for psql.
	URL string
	// Schema holds the tables; Open makes it and them. Lower case letters, digits and "_", up to 48. Default
	// "voicegw_journal".
	Schema string
	// Conns is the largest number of connections, not counting one that waits for hints. Default 16.
	Conns int
	// Timeout limits one request to the server. Default 5 s.
	Timeout time.Duration
}

var schemaRule = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,47}$`)

// check sets what is left out and returns the settings of the connections.
func (c *Config) check() (*pgxpool.Config, error) {
	if c.Schema == "" {
		c.Schema = "voicegw_journal"
	}
	if c.Timeout <= 0 {
		c.Timeout = 5 * time.Second
	}
	if c.Conns == 0 {
		c.Conns = 16
	}
	switch {
	case c.URL == "":
		return nil, errors.New("postgres: Config.URL is empty; give postgres://user@host/database")
	case !schemaRule.MatchString(c.Schema):
		return nil, fmt.Errorf("postgres: Config.Schema is %q; it must have up to 48 lower case letters, digits and \"_\", "+
			"and not begin with a digit", c.Schema)
	case c.Conns < 1 || c.Conns > 1000:
		return nil, fmt.Errorf("postgres: Config.Conns is %d; it may be 1 to 1000", c.Conns)
	}
	p, err := pgxpool.ParseConfig(c.URL)
	if err != nil {
		return nil, fmt.Errorf("postgres: Config.URL: %w", err) // without the password
	}
	p.MaxConns = int32(c.Conns) //nolint:gosec // checked
	p.ConnConfig.ConnectTimeout = c.Timeout
	for name, value := range map[string]string{
		"application_name":              "voicegw journal",
		"search_path":                   c.Schema,
		"synchronous_commit":            "on", // whatever the server's default is: a commit that is confirmed is stored
		"default_transaction_isolation": "read committed",
		"statement_timeout":             strconv.FormatInt(c.Timeout.Milliseconds(), 10),
		"lock_timeout":                  "0",
	} {
		p.ConnConfig.RuntimeParams[name] = value
	}
	return p, nil
}

// tables are in the schema, which the search path names. The keys of logs and documents sort by their bytes.
const tables = `
CREATE TABLE logs (
	id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	key      text COLLATE "C" NOT NULL UNIQUE,
	epoch    bigint NOT NULL,
	last     bigint NOT NULL,
	archived boolean NOT NULL
) WITH (fillfactor = 50);
CREATE TABLE records (
	log   bigint NOT NULL,
	seq   bigint NOT NULL,
	epoch bigint NOT NULL,
	kind  smallint NOT NULL,
	data  bytea NOT NULL,
	PRIMARY KEY (log, seq)
);
CREATE TABLE docs (
	key      text COLLATE "C" PRIMARY KEY,
	value    bytea NOT NULL,
	revision bigint NOT NULL,
	at       timestamptz NOT NULL
);
CREATE SEQUENCE revisions;
CREATE TABLE format (version integer NOT NULL);
`

// prepare makes the tables that are missing. Nodes that start at once wait for each other.
func (c *Config) prepare(ctx context.Context, pool *pgxpool.Pool) error {
	return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended('voicegw journal ' || $1, 0))`,
			c.Schema); err != nil {
			return err
		}
		var there bool
		if err := tx.QueryRow(ctx, `SELECT to_regclass($1) IS NOT NULL`, c.Schema+".format").Scan(&there); err != nil {
			return err
		}
		if there {
			var version int
			if err := tx.QueryRow(ctx, `SELECT version FROM format`).Scan(&version); err != nil {
				return err
			}
			if version != formatVersion {
				return fmt.Errorf("the tables in schema %s have version %d; this program knows version %d: use a newer voicegw",
					c.Schema, version, formatVersion)
			}
			return nil
		}
		for _, sql := range []string{"CREATE SCHEMA IF NOT EXISTS " + c.Schema, tables,
			fmt.Sprintf("INSERT INTO format VALUES (%d)", formatVersion)} {
			if _, err := tx.Exec(ctx, sql); err != nil {
				return err
			}
		}
		return nil
	})
}

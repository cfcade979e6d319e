package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// database is a PostgreSQL of this run, which listens on the loopback interface. Its settings are the defaults but for
// the number of connections. The methods of a nil one do nothing.
type database struct {
	bin, dir, port string
	process        *exec.Cmd
	log            strings.Builder
}

// nobody runs PostgreSQL, which refuses to run as root.
const nobody = 65534

// start makes a cluster in a directory and starts its server.
func (d *database) start(ctx context.Context, dir string) error {
	list, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(list) == 0 {
		return errors.New("there is no PostgreSQL under /usr/lib/postgresql; make deps installs it")
	}
	d.bin, d.dir = filepath.Dir(list[len(list)-1]), dir
	if err := d.prepare(); err != nil {
		return err
	}
	port, err := freePort()
	if err != nil {
		return err
	}
	d.port = fmt.Sprint(port)
	if out, err := d.command("initdb", "-D", d.dir, "-A", "trust", "-U", "bench").CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, out)
	}
	d.process = d.command("postgres", "-D", d.dir, "-k", "", "-c", "listen_addresses=127.0.0.1", "-p", d.port,
		"-c", "max_connections=200")
	d.process.Stdout, d.process.Stderr = &d.log, &d.log
	if err := d.process.Start(); err != nil {
		return err
	}
	for range 600 {
		conn, err := pgx.Connect(ctx, d.url("postgres"))
		if err == nil {
			return conn.Close(ctx)
		}
		time.Sleep(50 * time.Millisecond)
	}
	return fmt.Errorf("PostgreSQL does not answer: %s", d.log.String())
}

// prepare makes the directory. The user of the server must reach it.
func (d *database) prepare() error {
	if err := os.MkdirAll(d.dir, 0o700); err != nil {
		return err
	}
	if os.Getuid() != 0 {
		return nil
	}
	if err := os.Chmod(filepath.Dir(d.dir), 0o711); err != nil { //nolint:gosec // of this run
		return err
	}
	return os.Chown(d.dir, nobody, nobody)
}

func (d *database) command(name string, args ...string) *exec.Cmd {
	c := exec.Command(filepath.Join(d.bin, name), args...)           //nolint:gosec // of Debian
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGQUIT} // when the thread ends, which main keeps
	if os.Getuid() == 0 {
		c.SysProcAttr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
	}
	c.Dir, c.Env = d.dir, append(os.Environ(), "LC_ALL=C", "HOME="+d.dir)
	return c
}

// address is where the server listens.
func (d *database) address() string { return "127.0.0.1:" + d.port }

func (d *database) url(name string) string {
	return "postgres://bench:bench@" + d.address() + "/" + name + "?sslmode=disable"
}

// query asks for one value.
func (d *database) query(ctx context.Context, sql string, to any) error {
	conn, err := pgx.Connect(ctx, d.url("postgres"))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	return conn.QueryRow(ctx, sql).Scan(to)
}

// durable requires the settings that sync each commit.
func (d *database) durable(ctx context.Context) (string, error) {
	settings := ""
	err := d.query(ctx, `SELECT string_agg(name || '=' || setting, ' ' ORDER BY name) FROM pg_settings
		WHERE name IN ('fsync', 'synchronous_commit', 'full_page_writes')`, &settings)
	if err == nil && settings != "fsync=on full_page_writes=on synchronous_commit=on" {
		err = fmt.Errorf("PostgreSQL has %s", settings)
	}
	return "PostgreSQL " + settings, err
}

// stored is the size of all databases.
func (d *database) stored(ctx context.Context) (n int64, err error) {
	conn, err := pgx.Connect(ctx, d.url("postgres"))
	if err != nil {
		return 0, err
	}
	defer func() { _ = conn.Close(ctx) }()
	if _, err := conn.Exec(ctx, "CHECKPOINT"); err != nil {
		return 0, err
	}
	err = conn.QueryRow(ctx, "SELECT sum(pg_database_size(oid))::bigint FROM pg_database").Scan(&n)
	return n, err
}

func (d *database) servers() []int {
	if d == nil || d.process == nil {
		return nil
	}
	return []int{d.process.Process.Pid}
}

func (d *database) stop() {
	if d == nil || d.process == nil || d.process.Process == nil {
		return
	}
	_ = d.process.Process.Signal(syscall.SIGINT)
	_ = d.process.Wait()
}

// freePort is a port of the loopback interface that nobody uses now. Temporal cannot store one above 32767 in
// PostgreSQL.
func freePort() (int, error) {
	for range 100 {
		port := 20_000 + rand.IntN(12_000)
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			return port, l.Close()
		}
	}
	return 0, errors.New("no port between 20000 and 32000 is free")
}

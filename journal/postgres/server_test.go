package postgres_test

import (
	"fmt"
	"hash/fnv"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"github.com/voicegw/voicegw/journal/postgres"
)

// server is PostgreSQL in a folder of its own, which listens on a socket only.
type server struct {
	bin, dir string
	process  *exec.Cmd
	log      strings.Builder
}

// shared is the server of tests that leave it alone.
var shared server

func TestMain(m *testing.M) {
	if err := shared.install(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if err := shared.start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	shared.stop(syscall.SIGQUIT)
	if err := goleak.Find(); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	_ = os.RemoveAll(shared.dir)
	os.Exit(code)
}

// install makes an empty database.
func (s *server) install() error {
	list, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(list) == 0 {
		return fmt.Errorf("there is no PostgreSQL under /usr/lib/postgresql; scripts/deps.sh installs it")
	}
	s.bin = filepath.Dir(list[len(list)-1])
	var err error
	if s.dir, err = os.MkdirTemp("", "pg"); err != nil { // the path of a socket must be short
		return err
	}
	if os.Getuid() == 0 {
		if err := os.Chown(s.dir, nobody, nobody); err != nil {
			return err
		}
	}
	initdb := s.command("initdb", "-D", filepath.Join(s.dir, "d"), "-A", "trust", "-U", "test", "--no-sync")
	out, err := initdb.CombinedOutput()
	if err != nil {
		return fmt.Errorf("initdb: %w: %s", err, out)
	}
	return nil
}

// nobody runs PostgreSQL, which refuses to run as root.
const nobody = 65534

func (s *server) command(name string, args ...string) *exec.Cmd {
	c := exec.Command(filepath.Join(s.bin, name), args...)
	attr := &syscall.SysProcAttr{}
	if os.Getuid() == 0 {
		attr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
	}
	c.Dir, c.SysProcAttr, c.Env = s.dir, attr, append(os.Environ(), "LC_ALL=C", "HOME="+s.dir)
	return c
}

// start starts the server and waits until it answers.
func (s *server) start(options ...string) error {
	args := []string{"-D", filepath.Join(s.dir, "d"), "-k", s.dir, "-c", "listen_addresses=",
		"-c", "max_connections=200", "-c", "synchronous_commit=off"} // which the engine must not mind
	s.process = s.command("postgres", append(args, options...)...)
	s.process.Stdout, s.process.Stderr = &s.log, &s.log
	if err := s.process.Start(); err != nil {
		return err
	}
	for range 1500 {
		if s.command("pg_isready", "-h", s.dir, "-t", "1").Run() == nil {
			return nil
		}
		<-time.After(20 * time.Millisecond) // another process
	}
	return fmt.Errorf("PostgreSQL does not answer: %s", s.log.String())
}

// stop ends the server: SIGINT in good order, SIGQUIT at once, so that it must recover.
func (s *server) stop(how syscall.Signal) {
	_ = s.process.Process.Signal(how)
	_ = s.process.Wait()
}

// config is that of an engine on the server.
func (s *server) config(schema string) postgres.Config {
	return postgres.Config{URL: "host=" + s.dir + " user=test dbname=postgres", Schema: schema}
}

// schemaOf is the schema that a test uses as if it were a folder.
func schemaOf(dir string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(dir))
	return fmt.Sprintf("s%x", h.Sum64())
}

// open opens an engine on a server until the end of the test.
func (s *server) open(t testing.TB, schema string) *postgres.Engine {
	t.Helper()
	e, err := postgres.Open(t.Context(), s.config(schema))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

// exec does something behind the back of an engine.
func (s *server) exec(t *testing.T, schema, sql string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), s.config(schema).URL+" search_path="+schema)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	if _, err := conn.Exec(t.Context(), sql); err != nil {
		t.Fatal(err)
	}
}

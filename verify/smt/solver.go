package smt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Config says what proofs are about and limits what solvers may use. The zero value is usable.
type Config struct {
	// Params are the counts that a proof leaves open.
	Params []Param
	// Z3 and CVC5 are the programs to run; "" looks for z3 and cvc5 on the PATH; "none" uses no
	// such solver.
	Z3, CVC5 string
	// Timeout is the longest that a solver may take for one question; default 10 s. A property asks
	// several.
	Timeout time.Duration
	// MemoryMB is the most address space that a solver may use; default 2000.
	MemoryMB int
	// Keep, if not nil, is called with the certificate of each proof.
	Keep func(*Certificate)
}

const (
	defaultTimeout  = 10 * time.Second
	defaultMemoryMB = 2000
	outputMax       = 4 << 20 // bytes of a solver's output
	afterExit       = time.Second
)

// solver is a program that was found and is recent enough.
type solver struct {
	name    string // its name in certificates: "z3 4.8.12"
	path    string
	args    []string
	timeout time.Duration
	memory  int // MB
}

// reply is the output of a solver's process.
type reply struct {
	out, err string
	exit     int
}

// silence says why there is no answer. It leads to an Unknown verdict, not to an error.
type silence struct{ why string }

func (s *silence) Error() string { return s.why }

func silent(format string, args ...any) error { return &silence{fmt.Sprintf(format, args...)} }

// oldest lists the oldest versions that the encodings were tried with.
func oldest() map[string][2]int { return map[string][2]int{"z3": {4, 8}, "cvc5": {1, 0}} }

// z3 finds z3.
func (c Config) z3(ctx context.Context) (*solver, error) {
	args := []string{"-in", fmt.Sprintf("-memory:%d", c.memory())}
	return c.find(ctx, "z3", c.Z3, args)
}

// cvc5 finds cvc5.
func (c Config) cvc5(ctx context.Context) (*solver, error) {
	return c.find(ctx, "cvc5", c.CVC5, []string{"--lang=smt2", "--incremental", "-"})
}

func (c Config) memory() int {
	if c.MemoryMB <= 0 {
		return defaultMemoryMB
	}
	return c.MemoryMB
}

func (c Config) find(ctx context.Context, name, path string, args []string) (*solver, error) {
	s := &solver{name: name, path: path, args: args, timeout: c.Timeout, memory: c.memory()}
	if s.timeout <= 0 {
		s.timeout = defaultTimeout
	}
	if path == "none" {
		return nil, silent("%s is not to be used", name)
	}
	if path == "" {
		s.path = name
	}
	full, err := exec.LookPath(s.path)
	if err != nil {
		return nil, silent("%s is not installed: %v", name, err)
	}
	s.path = full
	return s, s.checkVersion(ctx)
}

// checkVersion asks a solver for its version, which becomes part of its name.
func (s *solver) checkVersion(ctx context.Context) error {
	r, err := s.start(ctx, "", "--version")
	if err != nil {
		return err
	}
	m := regexp.MustCompile(`version (\d+)\.(\d+)(\.\d+)?`).FindStringSubmatch(r.out)
	if m == nil || r.exit != 0 {
		return silent("%s does not tell its version: %s", s.path, firstLine(r.out+r.err))
	}
	major, _ := strconv.Atoi(m[1])
	minor, _ := strconv.Atoi(m[2])
	least := oldest()[s.name]
	if major < least[0] || major == least[0] && minor < least[1] {
		return silent("%s is version %d.%d; %d.%d or later is needed", s.path, major, minor, least[0], least[1])
	}
	s.name += " " + strings.TrimPrefix(m[0], "version ")
	return nil
}

// ask gives a solver a script and returns its reply.
func (s *solver) ask(ctx context.Context, script string) (*reply, error) {
	return s.start(ctx, script, s.args...)
}

// start runs the program in a process group of its own. It kills the group when the time is up and
// when the program has ended, so that nothing is left. A shell sets the memory limit, since not
// every solver has an option for one.
func (s *solver) start(ctx context.Context, stdin string, args ...string) (*reply, error) {
	timed, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	limited := []string{"-c", `ulimit -v "$1" && shift && exec "$@"`, "sh", strconv.Itoa(s.memory << 10), s.path}
	limited = append(limited, args...)
	cmd := exec.CommandContext(timed, "/bin/sh", limited...)
	cmd.Env = []string{"LC_ALL=C", "PATH=/usr/local/bin:/usr/bin:/bin"}
	cmd.Stdin = strings.NewReader(stdin)
	out, errs := &capped{max: outputMax}, &capped{max: outputMax}
	cmd.Stdout, cmd.Stderr = out, errs
	cmd.WaitDelay = afterExit
	group(cmd)
	err := cmd.Start()
	switch {
	case ctx.Err() != nil && err != nil:
		return nil, fmt.Errorf("smt: run %s: %w", s.name, ctx.Err())
	case err != nil:
		return nil, silent("%s does not start: %v", s.name, err)
	}
	err = cmd.Wait()
	killGroup(cmd.Process.Pid)
	return s.reply(ctx, timed, cmd, out, errs, err)
}

func (s *solver) reply(ctx, timed context.Context, cmd *exec.Cmd, out, errs *capped, err error) (*reply, error) {
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("smt: run %s: %w", s.name, ctx.Err())
	case out.over || errs.over:
		return nil, silent("%s said more than %d bytes", s.name, outputMax)
	case timed.Err() != nil:
		return nil, silent("%s found no answer within %v", s.name, s.timeout)
	case err != nil && !errors.As(err, &exit):
		return nil, silent("%s: %v", s.name, err)
	case !cmd.ProcessState.Exited():
		return nil, silent("%s was killed: %v", s.name, cmd.ProcessState)
	}
	return &reply{out.text.String(), errs.text.String(), cmd.ProcessState.ExitCode()}, nil
}

// capped keeps the first bytes written to it and then refuses more.
type capped struct {
	text bytes.Buffer // not embedded: its ReadFrom has no limit
	max  int
	over bool
}

func (c *capped) Write(b []byte) (int, error) {
	if c.text.Len()+len(b) > c.max {
		c.over = true
		return 0, errors.New("smt: too much output")
	}
	return c.text.Write(b)
}

// firstLine is the beginning of a program's output, for people.
func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	if len(s) > 200 {
		s = s[:200] + "..."
	}
	if s == "" {
		return "it said nothing"
	}
	return strconv.Quote(s)
}

// answer is a solver's result for a set of assertions.
type answer uint8

const (
	noAnswer answer = iota
	sat
	unsat
)

func readAnswer(line string) answer {
	switch line {
	case "sat":
		return sat
	case "unsat":
		return unsat
	}
	return noAnswer
}

// The two methods read sat and unsat with opposite meanings. Only these functions depend on that.

// safe reads the answer about Horn clauses: satisfiable means that the bad states are not reached.
func (a answer) safe() bool { return a == sat }

// reached reads the answer about Horn clauses.
func (a answer) reached() bool { return a == unsat }

// holds reads the answer about the negation of an obligation.
func (a answer) holds() bool { return a == unsat }

// fails reads the answer about the negation of an obligation.
func (a answer) fails() bool { return a == sat }

// hornAnswer reads z3's answer about Horn clauses with a request for the model. It rejects an
// answer that comes with an error, except the error that an unsatisfiable problem has no model.
func (s *solver) hornAnswer(r *reply) (answer, string, error) {
	first, rest, _ := strings.Cut(r.out, "\n")
	a := readAnswer(first)
	rest = strings.TrimSpace(rest)
	noModel := regexp.MustCompile(`^\(error "line \d+ column \d+: model is not available"\)$`)
	switch {
	case a == sat && r.exit == 0 && r.err == "" && !strings.Contains(rest, "(error"):
		return a, rest, nil
	case a == unsat && r.err == "" && (rest == "" && r.exit == 0 || noModel.MatchString(rest)):
		return a, "", nil
	}
	return noAnswer, "", s.noise(r)
}

// answers reads one answer a line, exactly n of them.
func (s *solver) answers(r *reply, n int) ([]answer, error) {
	var out []answer
	for _, line := range strings.Split(strings.TrimSuffix(r.out, "\n"), "\n") {
		a := readAnswer(line)
		if a == noAnswer {
			return nil, s.noise(r)
		}
		out = append(out, a)
	}
	if len(out) != n || r.exit != 0 || r.err != "" {
		return nil, s.noise(r)
	}
	return out, nil
}

func (s *solver) noise(r *reply) error {
	said := r.out
	if r.err != "" {
		said = r.err
	}
	return silent("%s gave no clean answer: %s, exit code %d", s.name, firstLine(said), r.exit)
}

package managed

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// skillMax is the largest skill, in bytes of its file.
const skillMax = 100 << 10

var skillID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,128}$`)

// skill is a folder of instructions: a name and what it is for, and the instructions.
type skill struct {
	Name        string `yaml:"name"`
	Description string `yaml:"description"`
	body        string
}

// skills are the instructions of the skills of an agent, to follow its own.
func (r *Runtime) skills(refs []SkillRef) (string, error) {
	var b strings.Builder
	for i, ref := range refs {
		at := fmt.Sprintf("skills[%d]", i)
		s, err := r.skill(at, ref)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "\n\n# Skill: %s\n\n%s\n\n%s", s.Name, s.Description, s.body)
	}
	return b.String(), nil
}

// skill reads the file SKILL.md of a skill. It follows no link out of Config.Skills.
func (r *Runtime) skill(at string, ref SkillRef) (*skill, error) {
	switch {
	case ref.Type != "custom":
		return nil, invalid(at+".type", "%q is not \"custom\", the only type there is", ref.Type)
	case !skillID.MatchString(ref.ID):
		return nil, invalid(at+".skill_id", "%q must have 1 to 128 letters, digits, \"_\" and \"-\"", ref.ID)
	case ref.Version != "" && ref.Version != "latest":
		return nil, invalid(at+".version", "%q is not \"latest\", the only version there is", ref.Version)
	case r.cfg.Skills == "":
		return nil, invalid(at+".skill_id", "there is no skill %q: the operator has none", ref.ID)
	}
	root, err := os.OpenRoot(r.cfg.Skills)
	if err != nil {
		return nil, &Error{Code: Storage, Message: "the skills cannot be read; try again later", Err: err}
	}
	defer func() { _ = root.Close() }()
	b, err := readSkill(root, ref.ID+"/SKILL.md")
	if err != nil {
		return nil, because(invalid(at+".skill_id", "there is no skill %q that can be read", ref.ID), err)
	}
	s, err := parseSkill(b)
	if err != nil {
		return nil, invalid(at+".skill_id", "the skill %q cannot be used: %v", ref.ID, err)
	}
	return s, nil
}

func readSkill(root *os.Root, name string) ([]byte, error) {
	info, err := root.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() { // opening a pipe would wait for a writer
		return nil, fmt.Errorf("%s is no file", name)
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return io.ReadAll(io.LimitReader(f, skillMax+1))
}

// parseSkill reads a skill: a name and a description between two lines "---", and the instructions.
func parseSkill(b []byte) (*skill, error) {
	if len(b) > skillMax {
		return nil, fmt.Errorf("its file has more than %d bytes", skillMax)
	}
	if !utf8.Valid(b) {
		return nil, errors.New("its file is not UTF-8")
	}
	b = append(bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n")), '\n')
	rest, ok := bytes.CutPrefix(b, []byte("---\n"))
	front, body, closed := bytes.Cut(rest, []byte("\n---\n"))
	if !ok || !closed {
		return nil, errors.New("its file must begin with a line \"---\", a name and a description, and another line \"---\"")
	}
	s := &skill{body: strings.TrimSpace(string(body))}
	if err := yaml.Unmarshal(front, s); err != nil {
		return nil, fmt.Errorf("what is between the lines \"---\" is no YAML: %w", err)
	}
	if s.Name == "" || s.Description == "" {
		return nil, errors.New("its name or its description is missing")
	}
	return s, nil
}

package tidy

import (
	"slices"
	"strings"
	"testing"
)

// A rule looks at one file or, with ofTree, at all of them, and says what is wrong and how to right it.
type rule struct {
	name   string
	ofFile func(*file) []string
	ofTree func(*tree) []string
}

// check gathers the rule's complaints about a tree, in order.
func (r rule) check(t *tree) []string {
	var out []string
	if r.ofTree != nil {
		out = r.ofTree(t)
	}
	for _, f := range t.files {
		if r.ofFile != nil {
			out = append(out, r.ofFile(f)...)
		}
	}
	slices.Sort(out)
	return out
}

// goFiles turns a rule for Go files into one for all files.
func goFiles(check func(*file) []string) func(*file) []string {
	return func(f *file) []string {
		if !f.isGo() {
			return nil
		}
		return check(f)
	}
}

// shippedGo turns a rule for Go files outside tests into one for all files.
func shippedGo(check func(*file) []string) func(*file) []string {
	return goFiles(func(f *file) []string {
		if f.isTest() {
			return nil
		}
		return check(f)
	})
}

// rules are all there are.
func rules() []rule {
	return slices.Concat(importRules(), coreRules(), shapeRules(), wordRules(), docsRules(), placeRules())
}

// TestTree holds the repository to every rule.
func TestTree(t *testing.T) {
	tr := repository(t)
	for _, r := range rules() {
		t.Run(r.name, func(t *testing.T) {
			for _, complaint := range r.check(tr) {
				t.Error(complaint)
			}
		})
	}
}

// A breach is a small tree that breaks one rule, and words of the complaint that must follow. With want empty it is
// the permitted neighbour of a breach.
type breach struct {
	name    string
	rule    string
	sources map[string]string
	want    []string
}

// TestRules shows each rule what it refuses and what it lets pass.
func TestRules(t *testing.T) {
	breaches := slices.Concat(importBreaches(), coreBreaches(), shapeBreaches(), wordBreaches(), docsBreaches(),
		placeBreaches())
	byName := map[string]rule{}
	for _, r := range rules() {
		byName[r.name] = r
	}
	refuted := map[string]bool{}
	for _, b := range breaches {
		refuted[b.rule] = refuted[b.rule] || len(b.want) > 0
		t.Run(b.rule+"/"+b.name, func(t *testing.T) {
			r, ok := byName[b.rule]
			if !ok {
				t.Fatalf("no rule %q", b.rule)
			}
			compare(t, r.check(treeOf(t, b.sources)), b.want)
		})
	}
	for name := range byName {
		if !refuted[name] {
			t.Errorf("rule %q has no test that it refuses anything", name)
		}
	}
}

// compare wants one complaint for each of want, in order, holding its words.
func compare(t *testing.T, got, want []string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d complaints, want %d:\n%s", len(got), len(want), strings.Join(got, "\n"))
	}
	for i := range want {
		if !strings.Contains(got[i], want[i]) {
			t.Errorf("complaint %q does not say %q", got[i], want[i])
		}
	}
}

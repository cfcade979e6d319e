package provider

import "testing"

// TestInstead opens one model for all names, and refuses one that cannot be opened.
func TestInstead(t *testing.T) {
	t.Parallel()
	all, err := Config{}.Resolver()
	if err != nil {
		t.Fatal(err)
	}
	one, err := all.Instead(Ref{Provider: "parrot"})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"gemini-2.5-flash", "openai/gpt-5-mini", "script/none.json", ""} {
		ref, err := ParseRef(name)
		if err != nil {
			t.Fatal(err)
		}
		if llm, err := one.Open(ref); err != nil || llm.Name() != "parrot" {
			t.Errorf("%q: %v %v", name, llm, err)
		}
	}
	if _, err := all.Instead(Ref{Provider: Gemini}); err == nil {
		t.Error("a model without its key was opened")
	}
	if _, err := one.Open(Ref{Provider: "nobody"}); err == nil {
		t.Error("a provider that nobody knows was opened")
	}
}

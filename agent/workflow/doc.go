// Package workflow makes a net of a workflow in YAML and proves it before it runs.
//
//	w, findings := workflow.Load("triage.yaml", text, workflow.Registry{})
//	c, findings := workflow.Compile(w)
//	report, err := workflow.Verify(ctx, c)
//	if !report.Accepted() { ... report.Findings say what is wrong, and where }
//	prog := c.Program(work) // an agent.Program: one turn is one run
//
// A Workflow is what a file says. Compile turns it into one net: each agent of the file is a block of
// the net, and an agent that is used twice is two blocks. Verify proves that every run ends and leaves
// nothing behind, that each agent can run, that every loop is bounded, and that no state key is written
// by two branches at once or read before it is written. A Finding names the line, and shows the run
// that breaks the rule in the words of the file.
//
// A control token carries the state that its path has written (Flow), so that parallel branches do not
// see each other, whatever their order in time. Where branches join, their states join, in the order of
// the file.
package workflow

package exec

import (
	"slices"
	"strings"

	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent/workflow"
)

// The planners of react blocks.
const (
	planReact   = "plan_react"
	planBuiltin = "builtin"
)

// Tags of the planner plan_react, as in ADK for Python.
const (
	tagPlanning    = "/*PLANNING*/"
	tagReplanning  = "/*REPLANNING*/"
	tagReasoning   = "/*REASONING*/"
	tagAction      = "/*ACTION*/"
	tagFinalAnswer = "/*FINAL_ANSWER*/"
)

// planning tells a model how to plan.
const planning = "\n\nAnswer in these parts, each behind its tag:\n" +
	"1. " + tagPlanning + " First make a plan: a numbered list of steps that answers the question with the tools that " +
	"you have, and no others.\n" +
	"2. " + tagAction + " Carry out the plan step by step with calls of tools. Behind " + tagReasoning + " sum up what " +
	"the results tell, and what is to be done next.\n" +
	"3. " + tagReplanning + " If a result shows that the plan does not work, make a new one from what you know now.\n" +
	"4. " + tagFinalAnswer + " When the plan is done, give the answer, exact and complete, and nothing else. If the " +
	"question cannot be answered, say why. Ask for what is missing only if nothing else helps."

// planner is the planner of a job; "" if it has none.
func planner(j *workflow.Job) string {
	if j.React == nil {
		return ""
	}
	return j.React.Planner
}

// plan prepares a request for the planner of its agent. It returns what the instruction needs besides.
func plan(j *workflow.Job, c *genai.GenerateContentConfig) string {
	switch planner(j) {
	case planReact:
		return planning
	case planBuiltin:
		c.ThinkingConfig = &genai.ThinkingConfig{IncludeThoughts: true}
		if b := j.React.ThinkingBudget; b != nil {
			c.ThinkingConfig.ThinkingBudget = genai.Ptr(int32(*b))
		}
	}
	return ""
}

// planned is a response of a planner: text up to the last final answer is thought, and behind the first group of
// calls nothing counts.
func planned(j *workflow.Job, c *genai.Content) *genai.Content {
	if planner(j) != planReact {
		return c
	}
	next := &genai.Content{Role: c.Role}
	called := false
	for _, p := range c.Parts {
		switch {
		case p == nil:
		case p.FunctionCall != nil:
			called = true
			next.Parts = append(next.Parts, p)
		case called:
			return next
		default:
			next.Parts = append(next.Parts, thoughts(p)...)
		}
	}
	return next
}

// thoughts are the parts of a text: what is thought, and the final answer.
func thoughts(p *genai.Part) []*genai.Part {
	of := func(text string, thought bool) *genai.Part {
		own := *p
		own.Text, own.Thought = text, thought
		return &own
	}
	if i := strings.LastIndex(p.Text, tagFinalAnswer); i >= 0 {
		i += len(tagFinalAnswer)
		list := []*genai.Part{of(p.Text[:i], true)}
		if answer := strings.TrimSpace(p.Text[i:]); answer != "" {
			list = append(list, of(answer, false))
		}
		return list
	}
	tags := []string{tagPlanning, tagReplanning, tagReasoning, tagAction}
	begins := func(tag string) bool { return strings.HasPrefix(strings.TrimSpace(p.Text), tag) }
	return []*genai.Part{of(p.Text, p.Thought || slices.ContainsFunc(tags, begins))}
}

// recalled is an earlier answer of the agent as its model gets it back: it reads the plan that it made.
func recalled(j *workflow.Job, c *genai.Content) *genai.Content {
	if planner(j) != planReact {
		return c
	}
	next := &genai.Content{Role: c.Role}
	for _, p := range c.Parts {
		own := *p
		own.Thought = false
		next.Parts = append(next.Parts, &own)
	}
	return next
}

package exec

import (
	"context"
	"fmt"
	"regexp"

	"github.com/voicegw/voicegw/agent/workflow"
)

// Templates, as package workflow reads them, and files. A value that is put in is not looked at again, whatever it
// contains.
var (
	inConfig      = workflow.Template()
	inInstruction = regexp.MustCompile(inConfig.String() + `|\{artifact\.([^{}?/\\]+)(\??)\}`)
)

// instruct puts state into an instruction. A key that is missing is an error, unless it has a "?".
func (r *run) instruct(ctx context.Context, j *workflow.Job, text string) (string, error) {
	var failed error
	text = inInstruction.ReplaceAllStringFunc(text, func(m string) string {
		part := inInstruction.FindStringSubmatch(m)
		key, optional := part[1], part[2] != ""
		if file := part[3]; file != "" {
			content, err := r.artifactText(ctx, file)
			if err != nil && part[4] == "" && failed == nil {
				failed = fmt.Errorf("the artifact %q in its instruction: %w", file, err)
			}
			return content
		}
		v, ok := r.value(j, key)
		switch {
		case ok:
			return inText(v)
		case !optional && failed == nil:
			failed = missing(key, "its instruction", "{"+key+"?}")
		}
		return ""
	})
	return text, failed
}

// inText is a value within a text: nothing for none.
func inText(v any) string {
	if v == nil || v == "" {
		return ""
	}
	return workflow.TextOf(v)
}

func missing(key, where, optional string) error {
	return fmt.Errorf("%s needs the state key %q, which has no value; write it before, or read it with %s", where, key,
		optional)
}

// filled puts state into a value of tool_config: a text that is one template becomes the value itself, a
// template within a text becomes text. Keys of maps stay as they are.
func (r *run) filled(j *workflow.Job, v any) (any, error) {
	switch v := v.(type) {
	case string:
		return r.filledText(j, v)
	case map[string]any:
		next := make(map[string]any, len(v))
		for k, one := range v {
			var err error
			if next[k], err = r.filled(j, one); err != nil {
				return nil, err
			}
		}
		return next, nil
	case []any:
		next := make([]any, len(v))
		for i, one := range v {
			var err error
			if next[i], err = r.filled(j, one); err != nil {
				return nil, err
			}
		}
		return next, nil
	}
	return v, nil
}

func (r *run) filledText(j *workflow.Job, text string) (any, error) {
	value := func(part []string) (any, error) {
		v, ok := r.value(j, part[1])
		if !ok && part[2] == "" {
			return nil, missing(part[1], "its tool_config", "{"+part[1]+"?}")
		}
		return v, nil
	}
	if part := inConfig.FindStringSubmatch(text); part != nil && part[0] == text {
		return value(part)
	}
	var failed error
	text = inConfig.ReplaceAllStringFunc(text, func(m string) string {
		v, err := value(inConfig.FindStringSubmatch(m))
		if err != nil && failed == nil {
			failed = err
		}
		return inText(v)
	})
	return text, failed
}

package exec

import (
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent/workflow"
)

func plan(*workflow.Job, *genai.GenerateContentConfig) string { return "" }

func planned(_ *workflow.Job, c *genai.Content) *genai.Content { return c }

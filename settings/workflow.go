package settings

import "slices"

// Workflow says which workflows there are, and what the operator gives their tools.
type Workflow struct {
	Dir          string   // "": there are none
	Storage      string   // the directory of the tool storage; "": the tool is not there
	StorageBytes int64    // that all files in it may have together
	Allow        []string // private addresses, prefixes and hosts that tools may reach
	OpenAPI      string   // the file with openapi_tools; "": none
	PublicURL    string   // where others reach the gateway; "": the address that it listens on
}

// workflowRows are the settings of workflows.
func (s *Settings) workflowRows() []Row {
	w := &s.Workflow
	rows := []Row{
		directoryRow("workflow.storage", &w.Storage, "none", newDirectory,
			"the directory that the tool storage of workflows reads and writes; without it they have no such tool"),
		numberRow("workflow.storage_bytes", &w.StorageBytes, 100<<20, 1<<10, 1<<40,
			"bytes that all files in workflow.storage may have together"),
		listRow("workflow.allow", &w.Allow, "addresses, prefixes and hosts such as 10.1.0.0/16",
			"private addresses that the tools of workflows may reach; otherwise they reach the public network alone",
			func(l []string) bool { return !slices.Contains(l, "") }),
		fileRow("workflow.openapi", &w.OpenAPI, "none", "a YAML file",
			"a file with openapi_tools: the documents whose operations workflows may use as tools"),
		textRow("workflow.public_url", &w.PublicURL, "none",
			"an http or https URL such as https://agents.example.com",
			"where other agents reach the gateway, for the A2A cards of workflows; none: the address that it listens on",
			isAdvertised),
	}
	for i := range rows {
		rows[i] = rows[i].onlyIf(func() bool { return w.Dir != "" }, "workflows is none")
	}
	return append([]Row{directoryRow("workflows", &w.Dir, "none", aDirectory,
		"a directory of workflows: NAME/workflow.yaml or NAME.yaml; needs data_dir or journal (see docs/workflows-serve.md)",
	)}, rows...)
}

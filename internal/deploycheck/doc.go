// Package deploycheck has only tests: they check the files in deploy/, and the Helm chart as it renders
// them. `go test -C internal/deploycheck` runs them.
package deploycheck

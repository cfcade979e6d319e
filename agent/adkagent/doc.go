// Package adkagent runs nets of package agent as agents of ADK: with its runner, its session, memory and
// artifact services, its plugins, callbacks and tools.
package adkagent

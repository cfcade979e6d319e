// Package structure derives facts about a net from its text alone: flows, capacities that always
// suffice, places that nothing fills, chains of firings that may not end. It explores nothing.
package structure

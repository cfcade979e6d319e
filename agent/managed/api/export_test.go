package api

import (
	"maps"
	"slices"
)

// Routes are the patterns of all routes.
func (s *Server) Routes() []string { return slices.Sorted(maps.Keys(s.routes())) }

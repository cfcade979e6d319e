package adkagent

import (
	_ "github.com/a2aproject/a2a-go/v2/a2asrv"
	_ "github.com/glebarez/sqlite"
	_ "github.com/modelcontextprotocol/go-sdk/mcp"
	_ "google.golang.org/adk/v2/agent/remoteagent/v2"
	_ "google.golang.org/adk/v2/agent/workflowagent"
	_ "google.golang.org/adk/v2/server/adka2a/v2"
	_ "google.golang.org/adk/v2/server/adkrest"
	_ "google.golang.org/adk/v2/session/database"
	_ "gorm.io/driver/postgres"
)

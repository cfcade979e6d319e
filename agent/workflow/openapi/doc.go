// Package openapi makes tools of the operations of an API that an OpenAPI 3 document describes.
//
//	sets, err := openapi.Parse("pyflow.yaml", data)
//	list, err := openapi.Load("crm", sets["crm"], openapi.Options{Dir: "specs", Client: client})
//
// Documents may be hostile: their size, depth and schemas are limited, and they name no other file. Credentials are
// named in the configuration and come from the environment of the process; they go to the server of the API only,
// and no result has them.
package openapi

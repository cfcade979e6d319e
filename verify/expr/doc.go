// Package expr parses the language of conditions on markings, such as `on_1 >= 1 && closed == 0`.
//
// Parse turns a text into an Expr, whose Root is a tree of Nodes. The package does not know any
// net: package netmodel resolves the names.
package expr

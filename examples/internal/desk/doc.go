// Package desk is the desk of a small restaurant, for the examples: a host who takes orders, and a
// cashier to whom the host hands over. Config describes its program, Chat talks to it over text streams.
//
//	prog, err := agent.New(desk.Config(desk.Clerk{}))
//	line, err := desk.Prove(ctx, prog)
//	err = desk.Chat(ctx, prog, os.Stdin, os.Stdout)
//
// Clerk is a model for it that needs neither key nor network.
package desk

// Command desk is the desk of a small restaurant in a terminal. Each line is a turn:
//
//	go run ./examples/desk
//	echo "2 soup, please" | go run ./examples/desk
//	go run ./examples/desk --model parrot
//
// It needs neither key nor network. At the start it proves the net that it runs.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"google.golang.org/adk/v2/model"

	"github.com/voicegw/voicegw/agent"
	"github.com/voicegw/voicegw/agent/provider"
	"github.com/voicegw/voicegw/examples/internal/desk"
)

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	models := provider.NewResolver()
	models.Add("clerk", func(provider.Ref) (model.LLM, error) { return desk.Clerk{}, nil })
	flags := flag.NewFlagSet("desk", flag.ContinueOnError)
	name := flags.String("model", "clerk", "PROVIDER or PROVIDER/MODEL; the providers are "+
		strings.Join(models.Names(), ", "))
	if err := flags.Parse(args); err != nil {
		return err
	}
	ref, err := provider.ParseRef(*name)
	if err != nil {
		return err
	}
	llm, err := models.Open(ref)
	if err != nil {
		return err
	}
	prog, err := agent.New(desk.Config(llm))
	if err != nil {
		return err
	}
	line, err := desk.Prove(ctx, prog)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, line)
	fmt.Fprintln(out, "Ask for the menu, order a dish, or pay. The end of the input ends the chat.")
	return desk.Chat(ctx, prog, in, out)
}

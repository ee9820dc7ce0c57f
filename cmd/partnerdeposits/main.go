// Command partnerdeposits holds the programs http, dispatcher and admin in a single binary. The name under which
// the binary is called selects the program.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"partnerdeposits/process/admin"
	"partnerdeposits/process/run"
	"partnerdeposits/process/wire"
)

func main() {
	commands := map[string]func() int{
		"http": wire.HTTPCommand.Main, "dispatcher": wire.DispatcherCommand.Main, "admin": admin.Main,
	}
	name := filepath.Base(os.Args[0])
	command, known := commands[name]
	if !known {
		fmt.Fprintf(os.Stderr, "%s: name this binary http, dispatcher or admin; the name chooses the program\n", name)
		os.Exit(run.ExitUsage)
	}
	os.Exit(command())
}

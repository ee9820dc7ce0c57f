// Command partnerdeposits is http, dispatcher and admin in a single binary, which releases and images hold under these
// three names. The name that it is called by says which it is.
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
		fmt.Fprintf(os.Stderr, "%s: this binary is named http, dispatcher or admin, and does what its name says\n", name)
		os.Exit(run.ExitUsage)
	}
	os.Exit(command())
}

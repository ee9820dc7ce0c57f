// Command dispatcher delivers webhooks and runs everything that is due by the clock: that expires deposits and idle
// checkouts, checks payments at the provider, sends mails, and cleans up old rows.
package main

import (
	"os"

	"partnerdeposits/process/wire"
)

func main() { os.Exit(wire.DispatcherCommand.Main()) }

// Command dispatcher delivers webhooks and does what is due by the clock: it expires deposits and idle checkouts,
// checks payments, sends mails, and deletes old rows.
package main

import (
	"os"

	"partnerdeposits/process/wire"
)

func main() { os.Exit(wire.DispatcherCommand.Main()) }

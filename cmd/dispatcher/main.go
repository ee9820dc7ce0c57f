// Command dispatcher delivers webhooks and does everything that is due by the clock: expiry, idle checkouts, payments
// to ask about, mails, upkeep.
package main

import (
	"os"

	"partnerdeposits/process/wire"
)

func main() { os.Exit(wire.DispatcherCommand.Main()) }

// Command dispatcher delivers webhooks and does everything that is due by the clock: expiry, idle checkouts, payments
// to ask about, mails, upkeep.
package main

import (
	"os"

	"partnerdeposits/cmd/internal/run"
	"partnerdeposits/cmd/internal/wire"
)

func main() { os.Exit(run.Main(wire.Dispatcher)) }

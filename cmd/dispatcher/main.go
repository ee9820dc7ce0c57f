// Command dispatcher delivers webhooks and does everything that is due by the clock: expiry, idle checkouts, payments
// to ask about, mails, upkeep.
package main

import (
	"os"

	"partnerdeposits/process/run"
	"partnerdeposits/process/wire"
)

// gcPercent keeps the process below 60 MB under the load of 32 busy connections. 300 costs as much CPU and 4 MB more.
const gcPercent = 250

func main() {
	command := run.Command{Name: "dispatcher", GCPercent: gcPercent, Build: wire.Dispatcher,
		Healthcheck: wire.Healthcheck}
	os.Exit(command.Main())
}

// Command http serves partners, operators and tenants: the partner API, the connect pages, the dashboard and checkout.
package main

import (
	"os"

	"partnerdeposits/process/wire"
)

func main() { os.Exit(wire.HTTPCommand.Main()) }

// Command http is the HTTP server for partners, operators and tenants: partner API, connect pages, dashboard,
// checkout.
package main

import (
	"os"

	"partnerdeposits/process/wire"
)

func main() { os.Exit(wire.HTTPCommand.Main()) }

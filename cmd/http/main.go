// Command http serves partners, operators and tenants: the partner API, the connect pages, the dashboard and checkout.
package main

import (
	"os"

	"partnerdeposits/cmd/internal/run"
	"partnerdeposits/cmd/internal/wire"
)

func main() { os.Exit(run.Main(wire.HTTP)) }

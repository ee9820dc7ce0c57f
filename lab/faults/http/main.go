//go:build failpoints

// Command http is cmd/http with failpoints, at which the fault suite kills or suspends it.
package main

import (
	"os"

	_ "partnerdeposits/lab/faults/trigger"
	"partnerdeposits/process/run"
	"partnerdeposits/process/wire"
)

func main() {
	os.Exit(run.Main(wire.HTTPCommand.GCPercent, wire.BuildHTTP))
}

//go:build failpoints

// Command dispatcher is cmd/dispatcher with failpoints, at which the fault suite kills or suspends it.
package main

import (
	"os"

	_ "partnerdeposits/lab/faults/trigger"
	"partnerdeposits/process/run"
	"partnerdeposits/process/wire"
)

func main() {
	os.Exit(run.Main(wire.DispatcherCommand.GCPercent, wire.BuildDispatcher))
}

//go:build failpoints

// Command http is cmd/http with failpoints at which the fault suite kills or stops it.
package main

import (
	"os"

	_ "partnerdeposits/lab/faults/trigger"
	"partnerdeposits/process/run"
	"partnerdeposits/process/wire"
)

func main() {
	const gcPercent = 200 // as cmd/http
	os.Exit(run.Main(gcPercent, wire.HTTP))
}

//go:build failpoints

// Command http is cmd/http with failpoints at which the fault suite kills or stops it.
package main

import (
	"os"

	"partnerdeposits/cmd/run"
	"partnerdeposits/cmd/wire"
	_ "partnerdeposits/lab/faults/trigger"
)

func main() {
	const gcPercent = 200 // as cmd/http
	os.Exit(run.Main(gcPercent, wire.HTTP))
}

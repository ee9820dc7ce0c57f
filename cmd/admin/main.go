// Command admin is the operator's command line (operations.md, "Admin CLI").
package main

import (
	"os"

	"partnerdeposits/process/admin"
)

func main() { os.Exit(admin.Main()) }

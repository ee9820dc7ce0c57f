// Command admin is the command line with which staff administer the service (operations.md, "Admin CLI").
package main

import (
	"os"

	"partnerdeposits/process/admin"
)

func main() { os.Exit(admin.Main()) }

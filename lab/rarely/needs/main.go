// Command needs prints what scripts/ensure-debian.sh has to install for the tests that run rarely and have to run now.
package main

import (
	"fmt"
	"strings"

	"partnerdeposits/lab/rarely"
)

func main() { fmt.Println(strings.Join(rarely.Needs("."), " ")) }

// Command needs prints what scripts/ensure-debian.sh has to install for the tests that run rarely and have to run now.
package main

import (
	"fmt"
	"os"
	"strings"

	"partnerdeposits/lab/rarely"
)

func main() {
	needs, err := rarely.Needs(".")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(strings.Join(needs, " "))
}

// Command tiny replaces the service in tests of the bill of materials, which names each linked module. It links
// several modules, so that a list that ends after the first fails.
package main

import (
	"fmt"

	"github.com/Masterminds/semver/v3"
	"github.com/spdx/tools-golang/spdx/v2/common"
)

func main() { fmt.Println(semver.MustParse("1.2.3"), common.SHA256) }

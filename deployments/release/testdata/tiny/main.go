// Command tiny stands for the binary of the service where only build information matters. A list that names only one
// linked module would be wrong, so tiny links several.
package main

import (
	"fmt"

	"github.com/Masterminds/semver/v3"
	"github.com/spdx/tools-golang/spdx/v2/common"
)

func main() { fmt.Println(semver.MustParse("1.2.3"), common.SHA256) }

//go:build failpoints

package main

import _ "partnerdeposits/cmd/internal/faults/trigger" // kills the process at the failpoint that the fault suite orders

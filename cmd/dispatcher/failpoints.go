//go:build failpoints

package main

import _ "partnerdeposits/cmd/internal/faults/trigger" // kills the process where the fault suite says

//go:build failpoints

package main

import _ "partnerdeposits/lab/faults/trigger" // kills the process at the failpoint that the fault suite orders

package redis_test

import (
	"testing"

	"partnerdeposits/lab/redistest"
)

func TestMain(m *testing.M) { redistest.RunTests(m) }

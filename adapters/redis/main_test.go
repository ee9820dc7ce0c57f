package redis_test

import (
	"testing"

	"partnerdeposits/adapters/redis/redistest"
)

func TestMain(m *testing.M) { redistest.Main(m) }

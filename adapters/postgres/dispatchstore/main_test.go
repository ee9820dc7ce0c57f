package dispatchstore_test

import (
	"testing"

	"partnerdeposits/adapters/postgres/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

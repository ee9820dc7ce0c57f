package dispatchstore_test

import (
	"testing"

	"partnerdeposits/lab/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

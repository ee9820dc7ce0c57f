package dispatchstore_test

import (
	"testing"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/lab/portstest"
	"partnerdeposits/lab/storetest"
	"partnerdeposits/ports"
)

// feedStore reads with the store of http, and relays with the store of a dispatcher.
type feedStore struct {
	*postgres.Store
	ports.RelayStore
}

func TestFeed_Conforms(t *testing.T) {
	t.Parallel()
	portstest.Feed(t, func(t *testing.T) portstest.FeedBackend {
		store, pool := storetest.New(t, postgres.Options{})
		return feedStore{store, dispatchOver(t, pool.Config().ConnString())}
	})
}

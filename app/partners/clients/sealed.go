package clients

import (
	"context"
	"time"

	"partnerdeposits/app/platform/schedules"
)

const (
	addressBatch = 100
	addressPause = 5 * time.Minute // between two looks at the deposits of an erased client (api.md §2, "Erasure")
)

// AddressJob gives the job that removes sealed addresses whose deposits have ended.
func (s *Service) AddressJob() schedules.Job {
	return schedules.Job{Name: "sealed addresses", Every: schedules.CleaningEvery,
		Run: func(ctx context.Context) (bool, error) {
			checked, err := s.deps.Addresses.CheckSealedAddresses(ctx, addressBatch, addressPause)
			return checked == addressBatch, err
		}}
}

package clients

import (
	"context"
	"time"

	"partnerdeposits/app/platform/schedules"
)

const (
	addressBatch = 100
	// The time between two checks whether an erased client's deposits have ended (api.md §2, "Erasure").
	addressPause = 5 * time.Minute
)

// ErasedAddressCleaningJob deletes the sealed address of an erased client once the client's deposits have ended.
func (s *Service) ErasedAddressCleaningJob() schedules.Job {
	return schedules.Job{Name: "sealed addresses", Every: schedules.CleaningInterval,
		Run: func(ctx context.Context) (bool, error) {
			checked, err := s.deps.Addresses.DeleteUnneededAddresses(ctx, addressBatch, addressPause)
			return checked == addressBatch, err
		}}
}

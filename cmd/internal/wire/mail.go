package wire

import (
	"time"

	"partnerdeposits/app/schedules"
)

// mailJobs gives the job that sends mails; without SMTP_URL mails wait in the database.
func (s *stores) mailJobs(every time.Duration) []schedules.Job {
	s.log.Warn("SMTP_URL is not set: mails wait in the database")
	return nil
}

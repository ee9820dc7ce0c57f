package wire

import (
	"time"

	"partnerdeposits/adapters/mail"
	"partnerdeposits/app/platform/mails"
	"partnerdeposits/app/platform/schedules"
	"partnerdeposits/core/partner"
	ports "partnerdeposits/ports/platform"
)

// mailJobs returns the job that sends mails. Without SMTP_URL, mails go to the log in development; elsewhere they
// wait in the database.
func (s *process) mailJobs(metrics ports.MailMetrics, every time.Duration) ([]schedules.Job, error) {
	if s.cfg.SMTPURL == "" && s.cfg.Environment != partner.EnvironmentDevelopment {
		s.log.Warn("SMTP_URL is not set: mails wait in the database")
		return nil, nil
	}
	mailer, err := mail.New(s.cfg.SMTPURL.Reveal(), s.cfg.MailFrom, s.log)
	if err != nil {
		return nil, err
	}
	return []schedules.Job{mails.MailSendingJob(s.Postgres.Mails, mailer, metrics, every)}, nil
}

package deposits

import (
	"partnerdeposits/app/platform/mails"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	paymentports "partnerdeposits/ports/payments"
	ports "partnerdeposits/ports/platform"
)

// CaptureMail is the mail to a tenant about a capture. Language is a BCP 47 tag; "" for several languages.
type CaptureMail struct {
	ports.Mail
	Language string
}

// PreviewCaptureMail returns the mail that the tenant would get for a capture. ok is false for a deposit without a
// client, to whom nothing is mailed. agreed is the language of the tenant's agreement.
func (s *Service) PreviewCaptureMail(by OperatorCaller, d *deposit.Deposit, agreed string,
	in CaptureRequest) (mail CaptureMail, ok bool) {
	if d.Client == nil {
		return mail, false
	}
	captured, now := *d, s.deps.Clock.Now()
	captured.CapturedAmount = d.Amount
	if in.Amount != nil {
		captured.CapturedAmount = *in.Amount
	}
	m := mails.NewChargeOrRefundNotice(&captured, agreed, paymentports.TenantNoticeCaptured, by.Account,
		s.deps.Imprint.SupportEmail)
	m.Reason, m.Words, m.ChargedAt = in.Reason, in.Description, s.deps.Payments.FirstChargeTime(now)
	return CaptureMail{m.Mail(id.ID{}, now), mails.LanguageOf(m.Locale)}, true
}

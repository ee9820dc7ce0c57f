// Package mailbook makes every mail of the service with invented values, for /styleguide/mails of `make run` and
// for tests.
package mailbook

import (
	"slices"
	"time"

	"partnerdeposits/app/platform/mails"
	"partnerdeposits/core/agreement"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/site"
	"partnerdeposits/core/webhook"
	depositports "partnerdeposits/ports/deposits"
	paymentports "partnerdeposits/ports/payments"
	ports "partnerdeposits/ports/platform"
	webhookports "partnerdeposits/ports/webhooks"
)

// Locales are the languages of the mails; "": both, for a reader of unknown language.
var Locales = []string{"en", "fr", ""}

// SampleMail is a mail of the service with invented values.
type SampleMail struct {
	Name string // The mail's type in app/platform/mails, and the case if it has several.
	Mail ports.Mail
}

var imprint = agreement.Imprint{TermsURL: "https://example.com/terms", PrivacyURL: "https://example.com/privacy",
	SupportEmail: "help@example.com"}

type book struct {
	locale, base string
	now          time.Time
	out          []SampleMail
}

// writer is a type of mail in app/platform/mails.
type writer interface {
	Mail(mailID id.ID, now time.Time) ports.Mail
}

// SampleMails returns every mail in the language of the locale with invented values. base is the origin of their
// URLs.
func SampleMails(locale, base string, now time.Time) []SampleMail {
	b := &book{locale: locale, base: base, now: now}
	b.links()
	b.account()
	b.deposits()
	b.money()
	b.desk()
	b.partners()
	return b.out
}

func (b *book) add(name string, w writer) {
	b.out = append(b.out, SampleMail{Name: name, Mail: w.Mail(id.ID{15: byte(len(b.out) + 1)}, b.now)})
}

func (b *book) operator() connect.Operator {
	return connect.Operator{Email: "olivia@example.com", Locale: b.locale}
}

func (b *book) deposit() *deposit.Deposit {
	return &deposit.Deposit{
		ID: id.ID{15: 7}, Reference: "D-7K3M-9Q2X", PartnerName: "Sunny Stays", CheckoutExpiresAt: b.now.AddDate(0, 0, 14),
		ExpiresAt: b.now.AddDate(0, 0, 5),
		Client:    &deposit.ClientDetails{FirstName: "Grace", LastName: "Hopper", Email: "grace@example.com"},
		Draft: deposit.Draft{
			Amount: 125_000, RentalContract: "BOOKING-1001", ContractStartAt: b.now.AddDate(0, 0, 14),
			ContractEndAt: b.now.AddDate(0, 0, 21),
		},
	}
}

func (b *book) secured() depositports.SecuredDeposit {
	d := b.deposit()
	return depositports.SecuredDeposit{
		ID: d.ID, Reference: d.Reference, Amount: d.Amount, ContractStartAt: d.ContractStartAt,
		ContractEndAt:  d.ContractEndAt,
		RentalContract: d.RentalContract, ExpiresAt: d.ExpiresAt,
	}
}

func (b *book) links() {
	b.add("PartnerLinked", mails.PartnerLinked{Operator: b.operator(), PartnerName: "Sunny Stays", DashboardURL: b.base})
	for _, by := range connect.Revokers {
		b.add("PartnerUnlinked, by "+string(by),
			mails.PartnerUnlinked{Operator: b.operator(), PartnerName: "Sunny Stays", By: by, DashboardURL: b.base})
	}
}

func (b *book) account() {
	const token = "?token=an-invented-token"
	verify, reset := site.PageURL(b.base, site.VerifyEmailPath)+token, site.PageURL(b.base, site.ResetPasswordPath)+token
	b.add("AddressVerification", mails.AddressVerification{Operator: b.operator(), To: b.operator().Email, URL: verify})
	b.add("PasswordReset", mails.PasswordReset{Operator: b.operator(), URL: reset})
	b.add("PasswordReset, locked out", mails.PasswordReset{Operator: b.operator(), URL: reset, LockedOut: true})
	for _, change := range mails.AccountChanges {
		b.add("AccountChangeNotice, "+string(change),
			mails.AccountChangeNotice{Operator: b.operator(), Change: change, DashboardURL: b.base})
	}
	for _, change := range mails.TwoFactorChanges {
		b.add("TwoFactorNotice, "+string(change), mails.TwoFactorNotice{Operator: b.operator(), Change: change,
			DashboardURL: b.base})
	}
}

func (b *book) deposits() {
	link := mails.DepositLink{
		To: "grace@example.com", Locale: b.locale, Deposit: b.deposit(), Company: "Villa Olivia",
		URL: site.CheckoutURL(b.base, "an-invented-token"),
	}
	b.add("DepositLink, asked by a partner", link)
	link.ByCompany, link.Imprint = true, imprint
	b.add("DepositLink, asked by the operator", link)
	d := b.deposit()
	agreed := agreement.Terms{Company: "Villa Olivia", Amount: d.Amount, Fee: deposit.Fee(d.Amount), Until: d.ExpiresAt,
		Imprint: imprint}
	b.add("FeePaid", mails.FeePaid{
		To: "grace@example.com", Locale: b.locale, Deposit: b.secured(), Company: "Villa Olivia", Fee: agreed.Fee,
		PaidAt: b.now, Words: agreed.FullText(b.locale), Imprint: imprint,
	})
}

// money adds the mails about a captured amount and about refunds.
func (b *book) money() {
	m := mails.ChargeOrRefundNotice{
		To: "grace@example.com", Locale: b.locale, Deposit: b.deposit(), Company: "Villa Olivia", Amount: 18_050,
		Reason: "damage", Words: "Broken coffee table, two glasses",
		SupportEmail: "support@deposits.example",
	}
	for _, kind := range paymentports.TenantNoticeKinds {
		m.Kind, m.URL = kind, ""
		if kind == paymentports.TenantNoticeCardRefused {
			m.URL = site.CheckoutURL(b.base, "an-invented-token")
		}
		b.add("ChargeOrRefundNotice, "+string(kind), m)
	}
	m.Kind, m.Settled = paymentports.TenantNoticeDebtEnded, true
	b.add("ChargeOrRefundNotice, ended as paid otherwise", m)
	m.Kind, m.Fee, m.Amount = paymentports.TenantNoticeRefunded, true, 4_375
	b.add("ChargeOrRefundNotice, refunded fee", m)
}

// desk adds the mails to operators about deposits.
func (b *book) desk() {
	d := b.deposit()
	b.add("DepositSecured", mails.DepositSecured{Operator: b.operator(), Deposit: b.secured(), DashboardURL: b.base})
	disputed := paymentports.DisputedDeposit{ID: d.ID, Reference: d.Reference, RentalContract: d.RentalContract}
	dispute := paymentports.Dispute{Ref: "dp_1", Amount: d.Amount, Reason: "fraudulent", Status: "needs_response",
		EvidenceDueBy: b.now.AddDate(0, 0, 7)}
	b.add("DisputeNotice, new",
		mails.DisputeNotice{Operator: b.operator(), Deposit: disputed, Dispute: dispute, New: true, DashboardURL: b.base})
	dispute.Status = "lost"
	b.add("DisputeNotice, changed",
		mails.DisputeNotice{Operator: b.operator(), Deposit: disputed, Dispute: dispute, DashboardURL: b.base})
	cover := depositports.EndingCover{
		Reference: d.Reference, Amount: d.Amount, RentalContract: d.RentalContract, ExpiresAt: d.ExpiresAt,
	}
	one := depositports.EndingCoversMailData{Operator: b.operator(), Covers: []depositports.EndingCover{cover}, Count: 1}
	b.add("CoversEnding, one", mails.CoversEnding{DashboardURL: b.base, EndingCoversMailData: one})
	many := slices.Repeat([]depositports.EndingCover{cover}, mails.MaxListedCovers)
	more := depositports.EndingCoversMailData{Operator: b.operator(), Covers: many, Count: len(many) + 12}
	b.add("CoversEnding, more than the mail lists", mails.CoversEnding{DashboardURL: b.base, EndingCoversMailData: more})
}

// partners adds the mails to contacts of partners, in English.
func (b *book) partners() {
	key := partner.APIKey{ID: id.ID{15: 8}, Name: "production", Prefix: "svc_pk_live_", Last4: "k3J9"}
	b.add("AccountUnlinked", mails.AccountUnlinked{
		Contact: "tech@sunny.example", ExternalID: "operator-17",
		Account: connect.Account{ID: id.ID{15: 9}, CompanyName: "Villa Olivia"},
	})
	b.add("APIKeyCreated", mails.APIKeyCreated{Contact: "tech@sunny.example", Key: key, By: mails.SupportName})
	b.add("APIKeyRevoked", mails.APIKeyRevoked{Contact: "tech@sunny.example", Key: key, By: mails.APIKeyAuthor(key)})
	for _, kind := range webhook.NoticeKinds {
		b.add("EndpointNotice, "+string(kind),
			mails.EndpointNotice{APIBaseURL: b.base, NoticeMailData: webhookports.NoticeMailData{
				Notice: webhook.Notice{SubscriptionID: id.ID{15: 10}, Kind: kind, At: b.now.Add(-time.Hour), Deliveries: 3},
				URL:    "https://sunny.example/hooks", Contact: "tech@sunny.example",
				Report: webhook.EndpointReport{LastError: webhook.ResultTimeout, LastFailureAt: b.now.Add(-time.Minute)},
			}})
	}
}

// Package clients creates, reads, changes and erases clients, the records of tenants.
package clients

import (
	"partnerdeposits/app/platform/idempotent"
	accountports "partnerdeposits/ports/accounts"
	depositports "partnerdeposits/ports/deposits"
	partnerports "partnerdeposits/ports/partners"
	ports "partnerdeposits/ports/platform"
)

type Deps struct {
	UnitOfWork ports.UnitOfWork
	Idempotent *idempotent.Executor
	Clients    partnerports.ClientStore
	Addresses  partnerports.ErasedClientAddressStore
	Deposits   depositports.DepositStore
	Texts      depositports.TextEraser
	Links      accountports.PartnerLinkStore
	Audit      ports.AuditLog
	Files      depositports.FileStore
	Contents   depositports.FileContentStore
	Clock      ports.Clock
	Entropy    ports.Entropy
}

type Service struct{ deps Deps }

func New(deps Deps) *Service { return &Service{deps: deps} }

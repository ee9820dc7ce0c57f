// Package clients creates, reads, changes and erases clients, the records of tenants.
package clients

import (
	"partnerdeposits/app/platform/idempotent"
	accountports "partnerdeposits/ports/accounts"
	depositports "partnerdeposits/ports/deposits"
	partnerports "partnerdeposits/ports/partners"
	ports "partnerdeposits/ports/platform"
)

// Deps holds the repositories and settings that the use cases of clients need.
type Deps struct {
	UnitOfWork ports.UnitOfWork
	Idempotent *idempotent.Executor
	Clients    partnerports.ClientStore
	Addresses  partnerports.ErasedClientAddressStore
	Deposits   depositports.DepositStore
	Texts      depositports.TextEraser
	Links      accountports.LinkStore
	Audit      ports.AuditLog
	Files      depositports.FileStore
	Contents   depositports.FileContentStore
	Clock      ports.Clock
	Entropy    ports.Entropy
}

// Service creates, reads, changes and erases the clients of partners.
type Service struct{ deps Deps }

func New(deps Deps) *Service { return &Service{deps: deps} }

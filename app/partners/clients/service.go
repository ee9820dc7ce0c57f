// Package clients holds the use cases about clients, the records of tenants.
package clients

import (
	"partnerdeposits/app/platform/idempotent"
	accountports "partnerdeposits/ports/accounts"
	depositports "partnerdeposits/ports/deposits"
	partnerports "partnerdeposits/ports/partners"
	ports "partnerdeposits/ports/platform"
)

// Deps holds the capabilities and settings of the use cases.
type Deps struct {
	UnitOfWork ports.UnitOfWork
	Idempotent *idempotent.Executor
	Clients    partnerports.Clients
	Addresses  partnerports.SealedAddresses
	Deposits   depositports.Deposits
	Texts      depositports.Texts
	Links      accountports.Links
	Audit      ports.AuditLog
	Files      depositports.Files
	Contents   depositports.FileContents
	Clock      ports.Clock
	Entropy    ports.Entropy
}

// Service runs the use cases.
type Service struct{ deps Deps }

// New makes the service.
func New(deps Deps) *Service { return &Service{deps: deps} }

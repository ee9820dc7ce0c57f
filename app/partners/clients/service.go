// Package clients holds the use cases about clients, the records of tenants.
package clients

import (
	"partnerdeposits/app/platform/idempotent"
	"partnerdeposits/ports"
)

// Deps holds the capabilities and settings of the use cases.
type Deps struct {
	UnitOfWork ports.UnitOfWork
	Idempotent *idempotent.Executor
	Clients    ports.Clients
	Addresses  ports.SealedAddresses
	Deposits   ports.Deposits
	Texts      ports.Texts
	Links      ports.Links
	Audit      ports.AuditLog
	Files      ports.Files
	Contents   ports.FileContents
	Clock      ports.Clock
	Entropy    ports.Entropy
}

// Service runs the use cases.
type Service struct{ deps Deps }

// New makes the service.
func New(deps Deps) *Service { return &Service{deps: deps} }

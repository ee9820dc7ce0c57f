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
	Clients    ports.ClientReader
	Deposits   ports.DepositReader
	Texts      ports.TextEraser
	Links      ports.LinkReader
	Files      ports.FileRecords
	Contents   ports.FileContents
	Clock      ports.Clock
	Entropy    ports.Entropy
}

// Service runs the use cases.
type Service struct{ deps Deps }

// New makes the service.
func New(deps Deps) *Service { return &Service{deps: deps} }

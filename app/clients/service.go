// Package clients holds the use cases about tenants, `client` in the API.
package clients

import (
	"partnerdeposits/app/idempotent"
	"partnerdeposits/ports"
)

// Deps is what the use cases stand on.
type Deps struct {
	Idempotent *idempotent.Executor
	Clients    ports.ClientReader
	Links      ports.LinkReader
	Clock      ports.Clock
	Entropy    ports.Entropy
}

// Service runs the use cases.
type Service struct{ deps Deps }

// New makes the service.
func New(deps Deps) *Service { return &Service{deps: deps} }

// Package platform declares the interfaces between the use cases of every module and the outside world: unit of work,
// frequent changes, idempotency, outbox, mails, audit log, limits, clock. Importers call it ports. The other packages
// beside it declare the interfaces of one module each; adapters implement them, and package lab/portstest runs the same
// suite against every implementation of a port.
//
// Use cases write in a unit of work (uow.go), and read with or without one.
package platform

// Package ports declares the interfaces between the use cases and the outside world: database, queue, mail, payment
// provider, clock. Each file declares the interfaces of a capability. Adapters implement the interfaces; package
// lab/portstest runs the same suite against every implementation of a port.
//
// Use cases write through the repositories of a unit of work (uow.go), and read without a transaction through the readers.
package ports

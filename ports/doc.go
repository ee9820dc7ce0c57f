// Package ports names what the use cases need of the world, one file per
// capability. Adapters implement these interfaces; ports/portstest holds every
// implementation of one port to the same suite.
//
// Writing goes through the repositories of a unit of work (uow.go). Reading that
// needs no transaction goes through the readers.
package ports

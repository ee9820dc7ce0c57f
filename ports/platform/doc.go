// Package platform declares the interfaces between the use cases of every module and the outside world: unit of
// work, frequent changes, idempotency, outbox, mails, audit log, limits, clock. Each package beside it, such as
// ports/webhooks, declares the interfaces of one module; adapters implement the interfaces, and package
// lab/portstest runs the same suite against every implementation of a port.
package platform

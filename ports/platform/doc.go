// Package platform declares the interfaces between the use cases of all modules and the outside world, such as
// transactions, mails, limits and the clock. Each package beside it, such as ports/webhooks, declares the
// interfaces of one module; adapters implement the interfaces, and package lab/portstest runs the same suite
// against every implementation of a port.
package platform

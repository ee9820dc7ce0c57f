// Package partners declares the interfaces that the use cases of partners need: partners, their API keys, and
// their clients.
package partners

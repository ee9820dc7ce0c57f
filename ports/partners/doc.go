// Package partners declares what the use cases of partners ask for: partners, their API keys, and their clients.
package partners

// Package pg is the plumbing below the packages of adapters/postgres: pooled reads, pipelined transactions, the
// translation of driver errors, and the sealing of secrets.
package pg

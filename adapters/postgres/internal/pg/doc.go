// Package pg serves the packages of adapters/postgres: pooled reads, pipelined transactions, translation of driver
// errors, encryption of secrets.
package pg

// Package pg serves the packages below adapters/postgres: reads over a pool, transactions that save round trips,
// translation of driver errors, encryption of secrets.
package pg

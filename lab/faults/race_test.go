//go:build race

package main

// raced: the tests run with the race detector, and so do the services.
const raced = true

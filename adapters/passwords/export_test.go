package passwords

// Slots is how many hashes a hasher computes at once, while it computes none.
func Slots(a *Argon2id) int { return a.turns.free }

// Waiting is how many strangers wait.
func Waiting(a *Argon2id) int {
	a.turns.mu.Lock()
	defer a.turns.mu.Unlock()
	return a.turns.strangers.waiting
}

package passwords

// Slots is how many hashes a hasher computes at once.
func Slots(a *Argon2id) int { return cap(a.slots) }

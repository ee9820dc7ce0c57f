package postgres

// Gathered is how many callers of WithinGroup wait for a group.
func (s *Store) Gathered() int { return s.groups.Waiting("") }

package groupcommit

// Waiting is the number of changes that wait for a group.
func (c *Changes) Waiting() int { return c.queue.Waiting("") }

package groupcommit

// Waiting counts the changes that wait for a group.
func (c *Changes) Waiting() int { return c.queue.Waiting("") }

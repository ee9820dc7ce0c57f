package groupcommit

// Waiting counts the changes that wait for a group.
func (c *Committer) Waiting() int { return c.queue.CountWaiting() }

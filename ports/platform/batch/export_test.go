package batch

// ActiveKeys counts the keys that have a batch running.
func (q *Queue[T]) ActiveKeys() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.states)
}

package batch

// Lines counts the keys that have a batch running.
func (q *Queue[T]) Lines() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.lines)
}

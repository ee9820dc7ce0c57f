package batch

// Busy counts the batches that run, the pauses that are not over, and the calls that wait.
func (q *Queue[T]) Busy() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.running + q.resting + len(q.waiting)
}

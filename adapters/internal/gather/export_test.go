package gather

// Lines is how many lines there are.
func (q *Queue[T]) Lines() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.lines)
}

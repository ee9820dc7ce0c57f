package gather

import "runtime"

// AwaitWaiting returns when n callers wait in a line.
func (q *Queue[T]) AwaitWaiting(key string, n int) {
	for {
		q.mu.Lock()
		waiting := len(q.lines[key].waiting)
		q.mu.Unlock()
		if waiting == n {
			return
		}
		runtime.Gosched()
	}
}

// Lines is how many lines there are.
func (q *Queue[T]) Lines() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.lines)
}

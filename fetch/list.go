package fetch

// list is a doubly linked list whose nodes lie in the values, so that it allocates nothing.
type list[T any] struct {
	first, last *node[T]
	len         int
}

type node[T any] struct {
	value      T
	prev, next *node[T]
	in         bool
}

// front returns the oldest value, or the zero value of an empty list.
func (l *list[T]) front() (v T) {
	if l.first != nil {
		v = l.first.value
	}
	return v
}

func (l *list[T]) pushBack(n *node[T]) {
	n.prev, n.next, n.in = l.last, nil, true
	if l.last == nil {
		l.first = n
	} else {
		l.last.next = n
	}
	l.last = n
	l.len++
}

// remove takes a node out; one that is not in is left.
func (l *list[T]) remove(n *node[T]) {
	if !n.in {
		return
	}
	if n.prev == nil {
		l.first = n.next
	} else {
		n.prev.next = n.next
	}
	if n.next == nil {
		l.last = n.prev
	} else {
		n.next.prev = n.prev
	}
	n.prev, n.next, n.in = nil, nil, false
	l.len--
}

func (l *list[T]) moveToBack(n *node[T]) {
	if n.in && l.last != n {
		l.remove(n)
		l.pushBack(n)
	}
}

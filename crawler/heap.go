package crawler

// ranked is a thing that can stand in a minHeap. slot is where it keeps its place there.
type ranked[T any] interface {
	before(T) bool
	slot() *int
}

// minHeap is a binary heap whose members know their place, so that each can be moved and taken out.
type minHeap[T ranked[T]] []T

func (h *minHeap[T]) push(x T) {
	*h = append(*h, x)
	h.up(len(*h) - 1)
}

// remove takes out the member in place i and returns it.
func (h *minHeap[T]) remove(i int) T {
	s := *h
	last := len(s) - 1
	x := s[i]
	s[i] = s[last]
	var none T
	s[last] = none
	*h = s[:last]
	if i < last {
		h.fix(i)
	}
	return x
}

// fix restores the order after the member in place i has changed.
func (h *minHeap[T]) fix(i int) {
	if !h.down(i) {
		h.up(i)
	}
}

func (h *minHeap[T]) up(i int) {
	s := *h
	x := s[i]
	for i > 0 {
		parent := (i - 1) / 2
		if !x.before(s[parent]) {
			break
		}
		s[i] = s[parent]
		*s[i].slot() = i
		i = parent
	}
	s[i] = x
	*x.slot() = i
}

// down reports whether the member has moved.
func (h *minHeap[T]) down(i int) bool {
	s, from := *h, i
	x := s[i]
	for {
		least := 2*i + 1
		if least >= len(s) {
			break
		}
		if right := least + 1; right < len(s) && s[right].before(s[least]) {
			least = right
		}
		if !s[least].before(x) {
			break
		}
		s[i] = s[least]
		*s[i].slot() = i
		i = least
	}
	s[i] = x
	*x.slot() = i
	return i > from
}

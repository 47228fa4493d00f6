package crawler

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// heldJournal is a Journal in memory. What it has taken over is durable once somebody has waited for it.
type heldJournal struct {
	lying   bool // what it holds was changed, so that a state may name blocks that never were
	mu      sync.Mutex
	parts   [][]byte
	changes [][]byte
	blocks  map[uint64][]byte
	ticket  uint64
	now     func() time.Duration
	failing error
	saves   int
	stray   int // blocks that no state named when it was opened

	failWrite func() error
	doubtful  map[uint64]bool // blocks of which a Write failed
	last      []byte          // change that may stand for the state
}

func (j *heldJournal) Load(_ context.Context, part, change func([]byte) error) error {
	for _, p := range j.parts {
		if err := part(p); err != nil {
			return err
		}
	}
	for _, c := range j.changes {
		if err := change(c); err != nil {
			return err
		}
	}
	return nil
}

func (j *heldJournal) Append(change []byte, _ []Item) uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.changes = append(j.changes, change)
	j.ticket++
	return j.ticket
}

func (j *heldJournal) Save(s JournalState) uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.saves++
	j.parts, j.changes = s.Parts, nil
	for _, b := range s.New {
		j.put(b)
	}
	for _, id := range s.Freed {
		if j.blocks[id] == nil && !j.doubtful[id] && !j.lying {
			panic("a block was freed that is not there")
		}
		delete(j.blocks, id)
	}
	if s.Only != nil {
		for id := range j.blocks {
			if _, named := slices.BinarySearch(s.Only, id); !named {
				delete(j.blocks, id)
				j.stray++
			}
		}
	}
	j.last = s.Last
	j.ticket++
	return j.ticket
}

// put writes a block, over one that was written ahead for a state that never came.
func (j *heldJournal) put(b JournalBlock) {
	if j.blocks == nil {
		j.blocks = map[uint64][]byte{}
	}
	j.blocks[b.ID] = slices.Clone(b.Data)
}

func (j *heldJournal) Wait(context.Context, uint64) error { return nil }

func (j *heldJournal) Err() error { return j.failing }

func (j *heldJournal) Block(id uint64) ([]byte, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if b := j.blocks[id]; b != nil {
		return b, nil
	}
	return nil, fmt.Errorf("%w: no block %d", ErrJournal, id)
}

func (j *heldJournal) Write(_ context.Context, blocks []JournalBlock) error {
	var err error
	if j.failWrite != nil {
		err = j.failWrite()
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	for i, b := range blocks {
		if err == nil || i < len(blocks)/2 {
			j.put(b)
			continue
		}
		if j.doubtful == nil {
			j.doubtful = map[uint64]bool{}
		}
		j.doubtful[b.ID] = true
	}
	return err
}

func (j *heldJournal) Now() time.Duration { return j.now() }

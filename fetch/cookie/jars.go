package cookie

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"
)

// Bounds of Jars.
const (
	DefaultMaxSessions = 4096
	MaxSession         = 1024 // bytes of the name of a session

	keyPrefix = "cookies/" // of the keys in a Store
)

// Errors of Jars.
var (
	ErrTooManySessions = errors.New("seine: cookie: more sessions than Jars may have open")
	ErrSessionName     = fmt.Errorf("seine: cookie: the name of the session has more than %d bytes", MaxSession)
)

// Store keeps values by key. Get of a missing key is an error for which errors.Is(err, fs.ErrNotExist) holds; Delete of one
// is none. It is safe for concurrent use. Every crawler.Store is one.
type Store interface {
	Get(ctx context.Context, key string) ([]byte, error)
	Put(ctx context.Context, key string, value []byte) error
	Delete(ctx context.Context, key string) error
}

// Jars holds one Jar for each session, by name. The zero value is ready and keeps them in memory alone. Its fields must
// not be changed after the first use. It is safe for concurrent use.
//
//	jars := &cookie.Jars{Store: store}
//	tr := &fetch.Transport{Cookies: jars.Open}
//	defer jars.Save(ctx)
type Jars struct {
	// Store keeps the jars beyond the process, each as JSON under "cookies/" and the name of the session: one is read when its
	// session is first opened, and written by Save. Nil keeps them in memory alone.
	Store Store
	// Options are those of each jar.
	Options Options
	// MaxSessions bounds the jars that are open. Zero means 4096, negative no bound. Past it Open fails with
	// ErrTooManySessions until a session is ended by Drop or Release: none is forgotten silently.
	MaxSessions int
	// OnLeftOut is told which cookies of a jar in the Store cannot be read or be kept; the others are. It is called before Open
	// returns, at once for several sessions maybe. The value in the Store stays until the jar has changed and is saved. Nil
	// leaves it to whoever asks Jar.LeftOut. A value that is damaged as a whole is an error of Open.
	OnLeftOut func(session string, left *FormError)

	mu   sync.Mutex
	open map[string]*slot
}

// slot is the place of a session.
type slot struct {
	turn  chan struct{} // held by who reads or writes the jar's value in the Store
	jar   *Jar          // nil until it is read; changes with the turn alone
	saved uint64        // Jar.changes when it was last written
	gone  bool          // it is no longer in the map
}

// Open returns the jar of a session, the same one until the session is dropped. "" is a session like others.
func (s *Jars) Open(ctx context.Context, session string) (*Jar, error) {
	if len(session) > MaxSession {
		return nil, ErrSessionName
	}
	for {
		place, err := s.slot(session)
		if err != nil {
			return nil, err
		}
		jar, again, err := s.read(ctx, session, place)
		if !again {
			return jar, err
		}
	}
}

// slot returns the place of a session.
func (s *Jars) slot(session string) (*slot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if place := s.open[session]; place != nil {
		return place, nil
	}
	if most := bound(s.MaxSessions, DefaultMaxSessions); most >= 0 && len(s.open) >= most {
		return nil, ErrTooManySessions
	}
	if s.open == nil {
		s.open = map[string]*slot{}
	}
	place := &slot{turn: make(chan struct{}, 1)}
	s.open[session] = place
	return place, nil
}

// enter waits for the turn at a place.
func (p *slot) enter(ctx context.Context) error {
	select {
	case p.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (p *slot) leave() { <-p.turn }

// read returns the jar of a place, from the Store if it has not been read; again says that the session was dropped
// meanwhile.
func (s *Jars) read(ctx context.Context, session string, p *slot) (jar *Jar, again bool, err error) {
	if err := p.enter(ctx); err != nil {
		return nil, false, err
	}
	var left *FormError
	defer func() {
		p.leave()
		if left != nil && s.OnLeftOut != nil {
			s.OnLeftOut(session, left)
		}
	}()
	switch {
	case p.gone:
		return nil, true, nil
	case p.jar != nil:
		return p.jar, false, nil
	}
	jar = New(s.Options)
	if s.Store != nil {
		value, err := s.Store.Get(ctx, keyPrefix+session)
		if err == nil {
			err = json.Unmarshal(value, jar)
		}
		if errors.As(err, &left) {
			err = nil
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			s.forget(session, p)
			return nil, false, fmt.Errorf("seine: cookie: session %q: %w", session, err)
		}
	}
	p.jar, p.saved = jar, jar.changed()
	return jar, false, nil
}

// forget takes a place out; its turn is held.
func (s *Jars) forget(session string, p *slot) {
	p.gone = true
	s.mu.Lock()
	delete(s.open, session)
	s.mu.Unlock()
}

func (j *Jar) changed() uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.changes
}

// Sessions returns the names of the sessions that are open, in alphabetical order.
func (s *Jars) Sessions() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	names := make([]string, 0, len(s.open))
	for name := range s.open {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Save writes the jars that have changed since they were read or written. It goes on after an error, and returns all of
// them joined. Without a Store it does nothing.
func (s *Jars) Save(ctx context.Context) error {
	var errs []error
	for _, session := range s.Sessions() {
		errs = append(errs, s.with(ctx, session, func(p *slot) error { return s.save(ctx, session, p) }))
	}
	return errors.Join(errs...)
}

// with does something with the place of a session while its turn is held; nothing for one that is not open.
func (s *Jars) with(ctx context.Context, session string, do func(*slot) error) error {
	s.mu.Lock()
	p := s.open[session]
	s.mu.Unlock()
	if p == nil {
		return nil
	}
	if err := p.enter(ctx); err != nil {
		return err
	}
	defer p.leave()
	if p.gone {
		return nil
	}
	return do(p)
}

func (s *Jars) save(ctx context.Context, session string, p *slot) error {
	if s.Store == nil || p.jar == nil {
		return nil
	}
	changes := p.jar.changed()
	if changes == p.saved {
		return nil
	}
	value, err := json.Marshal(p.jar)
	if err == nil {
		err = s.Store.Put(ctx, keyPrefix+session, value)
	}
	if err != nil {
		return fmt.Errorf("seine: cookie: session %q: %w", session, err)
	}
	p.saved = changes
	return nil
}

// Release saves the jar of a session that nobody uses at present and closes it; Open reads it again. Without a Store its
// cookies are lost with it.
func (s *Jars) Release(ctx context.Context, session string) error {
	return s.with(ctx, session, func(p *slot) error {
		if err := s.save(ctx, session, p); err != nil {
			return err
		}
		s.forget(session, p)
		return nil
	})
}

// Drop ends a session: its jar is emptied, and deleted from the Store.
func (s *Jars) Drop(ctx context.Context, session string) error {
	if len(session) > MaxSession {
		return ErrSessionName
	}
	open := false
	err := s.with(ctx, session, func(p *slot) error {
		open = true
		if p.jar != nil {
			p.jar.Clear()
		}
		err := s.unstore(ctx, session)
		s.forget(session, p)
		return err
	})
	if err != nil || open {
		return err
	}
	return s.unstore(ctx, session)
}

func (s *Jars) unstore(ctx context.Context, session string) error {
	if s.Store == nil {
		return nil
	}
	if err := s.Store.Delete(ctx, keyPrefix+session); err != nil {
		return fmt.Errorf("seine: cookie: session %q: %w", session, err)
	}
	return nil
}

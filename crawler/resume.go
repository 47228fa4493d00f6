package crawler

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
)

// Resume says what a run does with a crawl that is finished already: something was done, and nothing is left. A crawl
// that is not finished goes on whatever it says.
type Resume uint8

// The modes.
const (
	// ResumeContinue takes what is new among the seeds, and fetches nothing again. A run that finds nothing new ends with
	// ErrFinished.
	ResumeContinue Resume = iota
	// ResumeAgain forgets what was done or has failed, and crawls anew: a new generation. What is in the Store stays until
	// it is written again. The Frontier must be a Restarter.
	ResumeAgain
	// ResumeRefuse ends the run with ErrFinished before anything is done.
	ResumeRefuse
)

// Restarter is a Frontier that can begin anew.
type Restarter interface {
	// Restart forgets all requests that are done or have failed, so that they can be added again. It is an error, and has
	// no effect, while something is ready, delayed or leased, or a producer is open.
	Restart(ctx context.Context) error
}

// ManifestError says that a crawl was started with something else than now, which would silently fetch again or lose
// what is stored. Take the former value, or a new Frontier.
type ManifestError struct {
	Crawl string // its name
	Field string // of the Config; "" if the manifest cannot be read
	Was   string
	Is    string
	Err   error // why it cannot be read
}

// Error names the field.
func (e *ManifestError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("seine: manifest of crawl %q: %v", e.Crawl, e.Err)
	}
	return fmt.Sprintf("seine: manifest of crawl %q: %s: it was started with %s, not %s", e.Crawl, e.Field, e.Was, e.Is)
}

// Unwrap returns why the manifest cannot be read.
func (e *ManifestError) Unwrap() error { return e.Err }

// reservedKeys begin with what no page may save under.
const reservedKeys = "seine/"

// manifestSchema is that of what the engine keeps in a Frontier and a Store.
const manifestSchema = 1

// maxManifestHosts bounds the hosts of seeds that are kept. A crawl with more of them needs a Scope, or its seeds, to go
// on in another process.
const maxManifestHosts = 10_000

// manifest is what a crawl was started with.
type manifest struct {
	Schema     int      `json:"schema"`
	Name       string   `json:"name"`
	Canonical  string   `json:"canonical"` // how keys are made
	Generation int      `json:"generation"`
	Hosts      []string `json:"hosts,omitempty"` // of seeds, where there is no Scope
}

func manifestKey(name string) string { return reservedKeys + "crawl/" + name }

// loadManifest returns nil if there is none.
func (r *run) loadManifest() (*manifest, error) {
	e := r.e
	var raw []byte
	err := r.foreign("Store.Get", func() (err error) {
		raw, err = e.cfg.Store.Get(r.seeding, manifestKey(e.cfg.Name))
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	m := new(manifest)
	if err == nil {
		err = json.Unmarshal(raw, m)
	}
	if err != nil {
		return nil, &ManifestError{Crawl: e.cfg.Name, Err: err}
	}
	return m, nil
}

// check compares a manifest with what the crawl is started with now.
func (m *manifest) check(now *manifest) error {
	for _, f := range [...]struct{ field, was, is string }{
		{"Name", strconv.Quote(m.Name), strconv.Quote(now.Name)},
		{"schema", strconv.Itoa(m.Schema), strconv.Itoa(now.Schema)},
		{"Canonical", strconv.Quote(m.Canonical), strconv.Quote(now.Canonical)},
	} {
		if f.was != f.is {
			return &ManifestError{Crawl: now.Name, Field: f.field, Was: f.was, Is: f.is}
		}
	}
	return nil
}

// frontierStats asks the frontier how far it is.
func (r *run) frontierStats(ctx context.Context) (s FrontierStats, err error) {
	err = r.foreign("Frontier.Stats", func() (err error) {
		s, err = r.e.cfg.Frontier.Stats(ctx)
		return err
	})
	return s, err
}

// resume looks at what earlier runs have left, in this process or before, and keeps what this one is started with.
// seeded tells whether the run has seeds.
func (r *run) resume(seeded bool) error {
	e := r.e
	s, err := r.frontierStats(r.seeding)
	if err != nil {
		return err
	}
	pending := s.Ready + s.Delayed + s.Leased
	known := pending+s.Done+s.Failed > 0 || s.Producers > 0
	if !known && !seeded {
		return ErrNoSeeds
	}
	r.resumed = known && pending == 0 && s.Producers == 0
	now := &manifest{Schema: manifestSchema, Name: e.cfg.Name, Canonical: e.cfg.Canonical.String(), Generation: 1}
	if err := r.keepCrawl(now); err != nil {
		return err
	}
	was, err := r.loadManifest()
	if err != nil {
		return err
	}
	if was != nil && known { // else the frontier is new, and with it the crawl
		if err := was.check(now); err != nil {
			return err
		}
		now.Generation = was.Generation
		e.know(was.Hosts...)
	}
	if r.resumed {
		if err := r.startAnew(now, seeded); err != nil {
			return err
		}
	}
	now.Hosts = e.manifestHosts()
	return r.saveManifest(was, now)
}

// keepCrawl has the frontier hold this crawl, or tells that it holds another.
func (r *run) keepCrawl(now *manifest) error {
	keeper, ok := r.e.cfg.Frontier.(CrawlKeeper)
	if !ok {
		return nil
	}
	id := CrawlID{Name: now.Name, Canonical: now.Canonical}
	err := r.foreign("Frontier.KeepCrawl", func() (err error) {
		id, err = keeper.KeepCrawl(r.seeding, id)
		return err
	})
	if err != nil {
		return err
	}
	was := *now
	was.Name, was.Canonical = id.Name, id.Canonical
	return was.check(now)
}

// startAnew does with a finished crawl what Config.Resume says.
func (r *run) startAnew(now *manifest, seeded bool) error {
	switch r.e.cfg.Resume {
	case ResumeRefuse:
		return ErrFinished
	case ResumeAgain:
		if !seeded {
			return ErrNoSeeds
		}
		if err := r.foreign("Frontier.Restart", func() error { return r.e.cfg.Frontier.(Restarter).Restart(r.seeding) }); err != nil {
			return err
		}
		now.Generation++
		r.resumed = false
	}
	return nil
}

// know adds hosts of seeds.
func (e *Engine) know(hosts ...string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.hosts == nil {
		e.hosts = map[string]struct{}{}
	}
	for _, h := range hosts {
		e.hosts[h] = struct{}{}
	}
}

func (e *Engine) knownHosts() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Sorted(maps.Keys(e.hosts))
}

func (e *Engine) manifestHosts() []string {
	hosts := e.knownHosts()
	if scope := e.namedScope(); !scope.isZero() || len(hosts) > maxManifestHosts {
		return nil
	}
	return hosts
}

func (r *run) saveManifest(was, now *manifest) error {
	e := r.e
	value, err := json.Marshal(now)
	if err != nil {
		return err
	}
	if was != nil {
		if old, err := json.Marshal(was); err == nil && string(old) == string(value) {
			return nil
		}
	}
	if err := r.foreign("Store.Put", func() error { return e.cfg.Store.Put(r.seeding, manifestKey(e.cfg.Name), value) }); err != nil {
		return &ManifestError{Crawl: e.cfg.Name, Err: err}
	}
	return nil
}

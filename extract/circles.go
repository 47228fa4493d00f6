package extract

import "reflect"

// Structured data leads in circles: an article names its page and the page its article.

// opened is an object of structured data that is being filled into a struct.
type opened struct {
	object uintptr
	plan   *plan
}

func openedOf(p *plan, at place) (opened, bool) {
	o, ok := at.json.(map[string]any)
	if !ok || !at.isLD {
		return opened{}, false
	}
	return opened{reflect.ValueOf(o).Pointer(), p}, true
}

// enter notes that an object is being filled into a struct, until leave is called.
func (x *run) enter(p *plan, at place) (leave func()) {
	key, ok := openedOf(p, at)
	if !ok {
		return func() {}
	}
	if x.open == nil {
		x.open = map[opened]bool{}
	}
	x.open[key] = true
	return func() { delete(x.open, key) }
}

// leadsBack reports whether an object is being filled into the same struct: there it would hold itself without end.
func (x *run) leadsBack(p *plan, at place) bool {
	key, ok := openedOf(p, at)
	return ok && x.open[key]
}

const (
	// maxReferences is how many objects with an id stand in each other in a value that is handed out.
	maxReferences = 16
	// objectSteps and memberSteps are what an object, a member and an element of a copy count for.
	objectSteps = 128
	memberSteps = 16
)

// copied is a copy of a value of a document: what users are given they may change. Of structured data it is a tree: an object that
// leads back to one in which it stands is its {"@id": …} there.
func (x *run) copied(v any, ld bool) any {
	c := copier{x: x, ld: ld, open: map[uintptr]bool{}}
	return c.copy(v)
}

type copier struct {
	x    *run
	ld   bool
	open map[uintptr]bool // objects with an id in which the value stands
}

func (c *copier) copy(v any) any {
	if c.x.over() {
		return nil
	}
	switch v := v.(type) {
	case map[string]any:
		return c.object(v)
	case []any:
		c.x.steps -= len(v) * memberSteps
		list := make([]any, len(v))
		for i, element := range v {
			list[i] = c.copy(element)
		}
		return list
	}
	return v
}

func (c *copier) object(o map[string]any) any {
	c.x.steps -= objectSteps + len(o)*memberSteps
	if id, ok := o["@id"]; ok && c.ld {
		at := reflect.ValueOf(o).Pointer()
		if c.open[at] || len(c.open) >= maxReferences {
			return map[string]any{"@id": id}
		}
		c.open[at] = true
		defer delete(c.open, at)
	}
	made := make(map[string]any, len(o))
	for name, member := range o {
		made[name] = c.copy(member)
	}
	return made
}

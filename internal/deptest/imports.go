package deptest

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// rule says what the packages of a room may import of this repository outside their tests. The rule of the longest
// room that holds a package counts. A name that ends in "/..." stands for a room and all below it, another one for a
// package. What a rule allows is held against direct imports: since every room has one, it holds for all others too.
type rule struct {
	room     string
	may      []string
	standard bool // imports nothing of other modules
}

var rules = []rule{
	{room: ".", standard: true}, // the overview, no code
	{room: "internal", may: []string{"internal/..."}},

	{room: "dedupe", may: []string{"internal/...", "dedupe/..."}},
	{room: "proxy", may: []string{"internal/...", "proxy/..."}},
	{room: "ratelimit", may: []string{"internal/...", "ratelimit/..."}},
	{room: "torrent", may: []string{"internal/...", "torrent/..."}, standard: true},

	// The selector engines stand below the documents, sitemaps, feeds and quality above them.
	{room: "extract", may: []string{"internal/...", "extract/..."}},
	{room: "extract/css", may: []string{"internal/...", "extract/css/..."}},
	{room: "extract/xpath", may: []string{"internal/...", "extract/xpath/..."}},
	{room: "extract/jsonpath", may: []string{"internal/...", "extract/jsonpath/..."}},
	{room: "extract/readable", may: []string{"internal/...", "extract/readable/..."}},
	{room: "extract/literal", may: []string{"internal/...", "extract/literal/..."}},
	{room: "extract/structured", may: []string{"internal/...", "extract/literal", "extract/internal/...", "extract/structured/..."}},

	// Identities, cookies and the wire stand below fetch, the other sub-packages above it.
	{room: "fetch", may: []string{"internal/...", "proxy/...", "ratelimit/...", "fetch/..."}},
	{room: "fetch/identity", may: []string{"internal/...", "fetch/identity/..."}},
	{room: "fetch/cookie", may: []string{"internal/...", "fetch/cookie/..."}},
	{room: "fetch/internal", may: []string{"internal/...", "fetch/internal/...", "fetch/identity"}},

	{room: "render", may: []string{"internal/...", "proxy/...", "ratelimit/...", "fetch/...", "render/..."}},
	{room: "crawler", may: []string{"internal/...", "dedupe/...", "extract/...", "fetch/...", "proxy/...", "ratelimit/...", "render/...", "crawler/..."}},
	{room: "crawler/crawltest/demosite", standard: true}, // serves any client

	{room: "examples", may: []string{"crawler/...", "dedupe/...", "extract/...", "fetch/...", "proxy/...", "ratelimit/...", "render/...", "torrent/..."}},
}

// downwards names, for packages that have sub-packages on both sides of them, those that they may import. All other
// sub-packages import the package and are never imported by it.
var downwards = map[string][]string{
	"crawler": {"crawler/internal/..."},
	"extract": {"extract/css/...", "extract/xpath/...", "extract/jsonpath/...", "extract/literal/...", "extract/structured/...", "extract/readable/...", "extract/internal/..."},
	"fetch":   {"fetch/identity", "fetch/cookie", "fetch/internal/..."},
}

// support lists the packages made for tests; beside these every package whose name ends in "test" is one.
var support = []string{"internal/conformance", "internal/deptest", "internal/golden", "internal/memhttp"}

func supports(folder string) bool {
	return slices.Contains(support, folder) || strings.HasSuffix(path.Base(folder), "test")
}

// CheckImports returns what breaks the rules, one line each.
func CheckImports(packages []Package) []string {
	var faults []string
	for _, p := range packages {
		for _, imported := range p.Imports(false) {
			if why := refuse(p, imported, packages); why != "" {
				faults = append(faults, fmt.Sprintf("%s imports %s: %s", p.Path, imported, why))
			}
		}
		if !p.Room("examples") {
			continue
		}
		for _, imported := range p.Imports(true) {
			if to, own := room(imported); own && below(to, "internal") {
				faults = append(faults, fmt.Sprintf("%s imports %s: what is copied from examples must build elsewhere", p.Path, imported))
			}
		}
	}
	return faults
}

// refuse says why a package must not import a path outside its tests; nothing when it may.
func refuse(p Package, imported string, packages []Package) string {
	to, own := room(imported)
	if !own {
		return refuseForeign(p, imported)
	}
	if supports(to) && !p.Support() {
		return "it is made for tests"
	}
	if p.Module != "." {
		return refuseNested(p, to, packages)
	}
	r, ok := ruleOf(p.Path)
	if !ok {
		return "this room has no rule yet: say in deptest what it may import"
	}
	may := r.may
	if down, ok := downwards[p.Path]; ok {
		may = slices.DeleteFunc(slices.Clone(may), func(m string) bool { return m == p.Path+"/..." })
		may = append(may, down...)
	}
	if !allowed(to, may) {
		return fmt.Sprintf("it may import %v", may)
	}
	return ""
}

func refuseForeign(p Package, imported string) string {
	switch {
	case imported == "testing" || strings.HasPrefix(imported, "testing/"):
		if !p.Support() && !p.unreleased() {
			return "only tests and packages made for them use it"
		}
	case strings.Contains(strings.Split(imported, "/")[0], "."):
		if r, ok := ruleOf(p.Path); ok && p.Module == "." && r.standard {
			return "this room uses the standard library alone"
		}
	}
	return ""
}

// refuseNested: a nested module stands on what the root promises, and only programs choose backends.
func refuseNested(p Package, to string, packages []Package) string {
	if below(to, p.Module) {
		return ""
	}
	if below(to, "internal") || strings.Contains(to, "/internal/") {
		return "the root's internal packages may be of another version"
	}
	at := slices.IndexFunc(packages, func(q Package) bool { return q.Path == to })
	if at >= 0 && packages[at].Module != "." && !p.Main() {
		return "only programs and tests import a nested module"
	}
	return ""
}

func ruleOf(folder string) (rule, bool) {
	var best rule
	found := false
	for _, r := range rules {
		holds := folder == r.room || r.room != "." && below(folder, r.room)
		if holds && (!found || len(r.room) > len(best.room)) {
			best, found = r, true
		}
	}
	return best, found
}

func allowed(to string, may []string) bool {
	for _, m := range may {
		if folder, tree := strings.CutSuffix(m, "/..."); to == folder || tree && below(to, folder) {
			return true
		}
	}
	return false
}

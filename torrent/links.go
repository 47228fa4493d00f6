package torrent

// links puts the targets of symbolic links below the name of the torrent. Those of files that were renamed follow
// them, and it warns of those that lead nowhere.
func (p *parser) links(files []File) {
	graph := newLinkGraph(len(files))
	for i := range files {
		graph.add(files[i].Path)
		if more := files[i].more; more != nil && more.link != "" {
			more.link = p.m.Name + "/" + more.link
		}
	}
	for i := range files {
		more := files[i].more
		if more == nil || more.link == "" {
			continue
		}
		if path, ok := p.renamed[more.link]; ok && !graph.has(more.link) {
			more.link = path
			p.warn(ErrUnsafePath, more.linkAt, "symlink path")
		}
		graph.link(files[i].Path, more.link)
	}
	for i := range files {
		if more := files[i].more; more != nil && more.link != "" && !graph.leads(more.link) {
			p.warn(ErrBadSymlink, more.linkAt, "symlink path")
		}
	}
}

// maxLinks is how many links may lead to each other, as Linux has it.
const maxLinks = 40

// linkGraph tells where the symbolic links of a torrent lead. Case counts: where a system keeps it, D/x is no way to
// d/x.
type linkGraph struct {
	paths *pathSet          // files, and folders
	links map[string]string // targets of links by their paths
}

func newLinkGraph(n int) *linkGraph {
	paths := newPathSet(n)
	paths.exact = true
	return &linkGraph{paths: paths, links: map[string]string{}}
}

// add adds a file, and the folders that it is in.
func (g *linkGraph) add(path string) {
	folder, name := cutName(path)
	g.paths.add(g.paths.child(g.paths.enter(folder, true), name))
}

func (g *linkGraph) has(path string) bool { return g.paths.has(g.paths.enter(path, false)) }

func (g *linkGraph) link(path, target string) { g.links[path] = target }

// leads tells whether a target is a file or a folder, or a link that leads to one, and not back to itself.
func (g *linkGraph) leads(target string) bool {
	for range maxLinks {
		next, link := g.links[target]
		if !link {
			return g.has(target)
		}
		target = next
	}
	return false
}

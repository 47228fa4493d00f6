package demosite

import "net/http"

// leaf is a page of fixed content on the catalogue.
type leaf struct {
	path, title string
	text        string // its only sentence, or …
	template    string // … the template that makes its main part
	robots      string // content of the robots meta element
	tag         string // value of X-Robots-Tag
	expect      Expect
	why         string
}

func (l leaf) noIndex() bool {
	return l.robots == "noindex" || l.robots == "none" || l.tag == "noindex"
}

const (
	privateWhy  = "robots.txt disallows /private/"
	orphanWhy   = "only the sitemap names it"
	nofollowWhy = "every link to it says nofollow"
)

// leaves are the pages for what links, robots elements and robots headers may say.
var leaves = []leaf{
	{path: "/lab", title: "Laboratory", template: "lab"},
	{path: "/about", title: "About this site", text: "None of these films exists."},
	{path: "/contact", title: "Contact", template: "contact"},
	{path: "/links", title: "Links in every form", template: "links"},
	{path: "/links/base", title: "Links from a base", template: "base"},
	{path: "/links/end", title: "The end of the links", text: "This page was linked from a base."},
	{path: "/links/refresh", title: "A page that refreshes itself", template: "refresh"},

	{path: "/quiet", title: "Links not to follow", template: "quiet"},
	{path: "/quiet/meta", title: "A meta element says nofollow", template: "quiet-meta", robots: "nofollow"},
	{path: "/quiet/none", title: "A meta element says none", template: "quiet-none", robots: "none"},
	{path: "/quiet/header", title: "A header says nofollow", template: "quiet-header", tag: "nofollow"},
	{path: "/quiet/other", title: "A header says nofollow to another robot", template: "quiet-other", tag: "greedybot: nofollow"},
	{path: "/quiet/leaf", title: "For all other robots", text: "The header that was on the way here was for greedybot only."},
	{path: "/quiet/noindex", title: "Fetch but do not keep", text: "A meta element says noindex.", robots: "noindex"},
	{path: "/quiet/noindex-header", title: "Fetch but do not keep either", text: "A header says noindex.", tag: "noindex"},
	{path: "/nofollow/link", title: "Behind a nofollow link", text: "The link said so.", expect: Never, why: nofollowWhy},
	{path: "/nofollow/meta", title: "Behind a nofollow page", text: "The page said so.", expect: Never, why: nofollowWhy},
	{path: "/nofollow/none", title: "Behind a page of none", text: "The page said so.", expect: Never, why: nofollowWhy},
	{path: "/nofollow/header", title: "Behind a nofollow header", text: "The header said so.", expect: Never, why: nofollowWhy},

	{path: "/private/", title: "Private", text: "No robot should be here.", expect: Never, why: privateWhy},
	{path: "/private/notes.html", title: "Private notes", text: "Nor here.", expect: Never, why: privateWhy},
	{path: "/private/press.html", title: "Press", text: "robots.txt allows this one page below /private/."},

	{path: "/archive/1", title: "Archive 1", text: "No page links here.", expect: SitemapOnly, why: orphanWhy},
	{path: "/archive/2", title: "Archive 2", text: "No page links here.", expect: SitemapOnly, why: orphanWhy},
	{path: "/archive/3", title: "Archive 3", text: "No page links here.", expect: SitemapOnly, why: orphanWhy},
}

func (s *Site) routeLab(mux *http.ServeMux) {
	for _, l := range leaves {
		pattern := l.path
		if pattern[len(pattern)-1] == '/' {
			pattern += "{$}"
		}
		mux.HandleFunc("GET "+pattern, func(w http.ResponseWriter, r *http.Request) {
			if l.tag != "" {
				w.Header().Set("X-Robots-Tag", l.tag)
			}
			name := l.template
			if name == "" {
				name = "text"
			}
			s.html(w, r, name, view{Title: l.title, Robots: l.robots, Data: l.text})
		})
	}
}

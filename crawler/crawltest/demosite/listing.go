package demosite

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// listing is a list of films on the catalogue: all, of a genre, or of a year.
type listing struct {
	path, title string
	films       []int
}

func makeListings(films []Film) []listing {
	all := listing{path: "/films", title: "All films"}
	genres, years := map[string][]int{}, map[int][]int{}
	for _, f := range films {
		all.films = append(all.films, f.ID)
		years[f.Year] = append(years[f.Year], f.ID)
		for _, g := range f.Genres {
			genres[g] = append(genres[g], f.ID)
		}
	}
	lists := []listing{all}
	for _, g := range genreNames {
		if len(genres[g]) > 0 {
			lists = append(lists, listing{genrePath(g), g + " films", genres[g]})
		}
	}
	for y := firstYear; y <= lastYear; y++ {
		if len(years[y]) > 0 {
			lists = append(lists, listing{yearPath(y), fmt.Sprintf("Films of %d", y), years[y]})
		}
	}
	return lists
}

func genrePath(name string) string {
	return "/genre/" + strings.ReplaceAll(strings.ToLower(name), " ", "-")
}

func yearPath(year int) string { return fmt.Sprintf("/year/%d", year) }

// pages is how many pages a list of n things has; an empty list has one.
func (s *Site) pages(n int) int { return max(1, (n+s.opts.PerPage-1)/s.opts.PerPage) }

// window is the part of a list that a page shows.
func window[T any](s *Site, list []T, page int) []T {
	from := min((page-1)*s.opts.PerPage, len(list))
	return list[from:min(from+s.opts.PerPage, len(list))]
}

// pagePath is the path of a page of a list: the first has no query.
func pagePath(path string, page int) string {
	if page == 1 {
		return path
	}
	return fmt.Sprintf("%s?page=%d", path, page)
}

func pageTitle(title string, page int) string {
	if page == 1 {
		return title
	}
	return fmt.Sprintf("%s, page %d", title, page)
}

// pageOf reads the number of the page that a query asks for; false when the list has no such page.
func (s *Site) pageOf(query url.Values, n int) (int, bool) {
	if !query.Has("page") {
		return 1, true
	}
	page, err := strconv.Atoi(query.Get("page"))
	return page, err == nil && page >= 1 && page <= s.pages(n)
}

// idOf reads a number from 1 to limit, in its plain form only: "07" and "+7" name nothing.
func idOf(text string, limit int) (int, bool) {
	id, err := strconv.Atoi(text)
	return id, err == nil && id >= 1 && id <= limit && strconv.Itoa(id) == text
}

// sorted orders films by title or year, equals by id. Any other key leaves them as they are.
func (s *Site) sorted(ids []int, key string) []int {
	ids = slices.Clone(ids)
	switch key {
	case "title":
		slices.SortFunc(ids, func(a, b int) int {
			return cmp.Or(strings.Compare(s.films[a-1].Title, s.films[b-1].Title), a-b)
		})
	case "year":
		slices.SortFunc(ids, func(a, b int) int { return cmp.Or(s.films[a-1].Year-s.films[b-1].Year, a-b) })
	}
	return ids
}

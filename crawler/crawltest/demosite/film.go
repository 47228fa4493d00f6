package demosite

import (
	"crypto/sha1"
	"encoding/base32"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
)

const (
	firstYear = 1981
	lastYear  = 2012
	castSize  = 4
	// troupe is from how many people a film's cast and director are drawn.
	troupe = 8
)

// Film is what the site knows of a film, and the form of its JSON.
type Film struct {
	ID            int       `json:"id"` // from 1
	Title         string    `json:"title"`
	OriginalTitle string    `json:"original_title,omitempty"` // of films from Russia and China, in their script
	Year          int       `json:"year"`
	Rating        float64   `json:"rating"` // 1.0 to 10.0, one decimal
	Votes         int       `json:"votes"`
	Runtime       int       `json:"runtime"` // minutes
	Country       string    `json:"country"`
	Genres        []string  `json:"genres"` // one to three, in alphabetical order
	Director      Credit    `json:"director"`
	Cast          []Credit  `json:"cast"`
	Plot          string    `json:"plot"`
	Poster        string    `json:"poster"` // the URL of its image
	URL           string    `json:"url"`    // of /film/ID on the catalogue
	Torrents      []Torrent `json:"torrents"`
}

// Credit is a person's part in a film.
type Credit struct {
	ID   int    `json:"id"`
	Name string `json:"name"`
	Role string `json:"role,omitempty"` // of actors
	URL  string `json:"url"`            // of the person
}

// Torrent is a line of the torrent list.
type Torrent struct {
	Name     string `json:"name"`      // in the style of releases
	InfoHash string `json:"info_hash"` // 40 lower-case hexadecimal digits
	Magnet   string `json:"magnet"`    // the info-hash of every second one is in base32
	Size     int64  `json:"size"`      // bytes
	Seeders  int    `json:"seeders"`
	Leechers int    `json:"leechers"`
}

// Person is somebody who acted in films or directed them.
type Person struct {
	ID       int    `json:"id"` // from 1
	Name     string `json:"name"`
	Born     int    `json:"born"`
	URL      string `json:"url"`
	Directed []int  `json:"directed"` // films by ID
	Acted    []int  `json:"acted"`
}

// Films returns all films by ID, with the URLs that the site has now. The caller owns them.
func (s *Site) Films() []Film {
	films := make([]Film, len(s.films))
	for i := range films {
		films[i] = s.film(i + 1)
	}
	return films
}

// People returns all people by ID, with the URLs that the site has now. The caller owns them.
func (s *Site) People() []Person {
	people := make([]Person, len(s.people))
	for i := range people {
		people[i] = s.person(i + 1)
	}
	return people
}

// film is a copy of a film with its URLs.
func (s *Site) film(id int) Film {
	f := s.films[id-1]
	f.Genres, f.Cast, f.Torrents = slices.Clone(f.Genres), slices.Clone(f.Cast), slices.Clone(f.Torrents)
	f.URL = s.at(Catalogue, filmPath(id))
	f.Poster = s.at(Images, f.Poster)
	f.Director.URL = s.at(People, personPath(f.Director.ID))
	for i := range f.Cast {
		f.Cast[i].URL = s.at(People, personPath(f.Cast[i].ID))
	}
	return f
}

func (s *Site) person(id int) Person {
	p := s.people[id-1]
	p.Directed, p.Acted = slices.Clone(p.Directed), slices.Clone(p.Acted)
	p.URL = s.at(People, personPath(id))
	return p
}

func filmPath(id int) string   { return fmt.Sprintf("/film/%d", id) }
func personPath(id int) string { return fmt.Sprintf("/person/%d", id) }

func makeFilms(seed uint64, n int) []Film {
	films := make([]Film, n)
	for i := range films {
		films[i] = makeFilm(seed, i+1)
	}
	return films
}

// makeFilm makes a film; Poster is a path for now, and the other URLs are empty.
func makeFilm(seed uint64, id int) Film {
	d := roll(seed, streamFilm, id)
	f := Film{
		ID:      id,
		Title:   filmTitle(seed, id),
		Year:    firstYear + d.n(lastYear-firstYear+1),
		Rating:  float64(40+d.n(56)) / 10,
		Votes:   10 + d.n(90_000),
		Runtime: 62 + d.n(120),
		Country: pick(d, countries),
	}
	f.Genres = draw(d, genreNames, 1+d.n(3))
	slices.Sort(f.Genres)
	switch f.Country {
	case "Russia":
		f.OriginalTitle = pick(d, russianAdjectives) + " " + pick(d, russianNouns)
	case "China":
		f.OriginalTitle = pick(d, chineseAdjectives) + "的" + pick(d, chineseNouns)
	}
	hero := pick(d, heroes)
	f.Plot = fmt.Sprintf("%s%s %s. %s", strings.ToUpper(hero[:1]), hero[1:], pick(d, tasks), pick(d, turns))

	var known []int // people of about the same id
	for p := range troupe {
		known = append(known, (id+1)/2+p)
	}
	known = draw(d, known, 1+castSize)
	f.Director = Credit{ID: known[0], Name: personName(seed, known[0])}
	for _, p := range known[1:] {
		f.Cast = append(f.Cast, Credit{ID: p, Name: personName(seed, p), Role: pick(d, roles)})
	}
	f.Poster = fmt.Sprintf("/poster/%d.%s", id, pick(d, posters))
	for n := range 1 + d.n(2) {
		f.Torrents = append(f.Torrents, makeTorrent(seed, f, n))
	}
	return f
}

// draw takes k different members of a list.
func draw[T any](d *dice, from []T, k int) []T {
	rest := slices.Clone(from)
	for i := range k {
		j := i + d.n(len(rest)-i)
		rest[i], rest[j] = rest[j], rest[i]
	}
	return rest[:k]
}

// filmTitle gives every film of a site another title.
func filmTitle(seed uint64, id int) string {
	a, b, round := pair(seed, streamTitle, id, len(titleAdjectives), len(titleNouns))
	form := titleForms[(round+a+b)%len(titleForms)]
	return fmt.Sprintf(form, titleAdjectives[a], titleNouns[b])
}

// personName gives every person of a site another name.
func personName(seed uint64, id int) string {
	a, b, round := pair(seed, streamName, id, len(firstNames), len(lastNames))
	if round > 0 {
		return fmt.Sprintf("%s %c. %s", firstNames[a], 'A'+round-1, lastNames[b])
	}
	return firstNames[a] + " " + lastNames[b]
}

func makePeople(seed uint64, films []Film) []Person {
	people := make([]Person, (len(films)+1)/2+troupe-1)
	for i := range people {
		d := roll(seed, streamPerson, i+1)
		people[i] = Person{ID: i + 1, Name: personName(seed, i+1), Born: firstYear - 20 - d.n(40), Directed: []int{}, Acted: []int{}}
	}
	for _, f := range films {
		p := &people[f.Director.ID-1]
		p.Directed = append(p.Directed, f.ID)
		for _, c := range f.Cast {
			p = &people[c.ID-1]
			p.Acted = append(p.Acted, f.ID)
		}
	}
	return people
}

func makeTorrent(seed uint64, f Film, n int) Torrent {
	d := roll(seed, streamTorrent, 2*f.ID+n)
	title := strings.Join(strings.FieldsFunc(f.Title, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r != 'é'
	}), ".")
	t := Torrent{
		Name:     fmt.Sprintf("%s.%d.%s.%s.%s-DEMO", title, f.Year, pick(d, qualities), pick(d, sources), pick(d, codecs)),
		Size:     int64(600+d.n(20_000)) << 20,
		Seeders:  d.n(500),
		Leechers: d.n(60),
	}
	var of [24]byte
	binary.BigEndian.PutUint64(of[:], seed)
	binary.BigEndian.PutUint64(of[8:], uint64(f.ID))
	binary.BigEndian.PutUint64(of[16:], uint64(n))
	hash := sha1.Sum(of[:])
	t.InfoHash = hex.EncodeToString(hash[:])
	shown := t.InfoHash
	if n == 1 {
		shown = base32.StdEncoding.EncodeToString(hash[:])
	}
	t.Magnet = fmt.Sprintf("magnet:?xt=urn:btih:%s&dn=%s&xl=%d&tr=%s",
		shown, url.QueryEscape(t.Name), t.Size, url.QueryEscape("udp://tracker.films.test:6969/announce"))
	return t
}

// changed is when a thing was last changed, to the second.
func changed(seed uint64, id int) time.Time {
	return time.Date(2024, 1, 1, 0, 0, roll(seed, streamDate, id).n(360*24*3600), 0, time.UTC)
}

package structured

import (
	"net/url"
	"time"
)

// Movie, TVSeries and Person are the parts of schema.org that film sites fill, as an example of the tag and for use as
// they are.

// Movie is https://schema.org/Movie.
type Movie struct {
	Name          string        `schema:"name" json:"name"`
	AlternateName []string      `schema:"alternateName" json:"alternate_name,omitempty"`
	Description   string        `schema:"description" json:"description,omitempty"`
	URL           *url.URL      `schema:"url" json:"url,omitempty"`
	Image         []string      `schema:"image" json:"image,omitempty"` // URLs as the page has them
	DatePublished time.Time     `schema:"datePublished" json:"date_published,omitzero"`
	Duration      time.Duration `schema:"duration" json:"duration,omitempty"`
	Genre         []string      `schema:"genre" json:"genre,omitempty"`
	Director      []Person      `schema:"director" json:"director,omitempty"`
	Actor         []Person      `schema:"actor" json:"actor,omitempty"`
	Country       []string      `schema:"countryOfOrigin" json:"country,omitempty"`
	Rating        *Rating       `schema:"aggregateRating" json:"rating,omitempty"`
}

// TVSeries is https://schema.org/TVSeries.
type TVSeries struct {
	Name             string    `schema:"name" json:"name"`
	AlternateName    []string  `schema:"alternateName" json:"alternate_name,omitempty"`
	Description      string    `schema:"description" json:"description,omitempty"`
	URL              *url.URL  `schema:"url" json:"url,omitempty"`
	Image            []string  `schema:"image" json:"image,omitempty"`
	StartDate        time.Time `schema:"startDate" json:"start_date,omitzero"`
	EndDate          time.Time `schema:"endDate" json:"end_date,omitzero"`
	Genre            []string  `schema:"genre" json:"genre,omitempty"`
	Actor            []Person  `schema:"actor" json:"actor,omitempty"`
	NumberOfSeasons  int       `schema:"numberOfSeasons" json:"number_of_seasons,omitempty"`
	NumberOfEpisodes int       `schema:"numberOfEpisodes" json:"number_of_episodes,omitempty"`
	Rating           *Rating   `schema:"aggregateRating" json:"rating,omitempty"`
}

// Person is https://schema.org/Person.
type Person struct {
	Name      string    `schema:"name" json:"name"`
	URL       *url.URL  `schema:"url" json:"url,omitempty"`
	Image     string    `schema:"image" json:"image,omitempty"`
	BirthDate time.Time `schema:"birthDate" json:"birth_date,omitzero"`
	JobTitle  string    `schema:"jobTitle" json:"job_title,omitempty"`
	SameAs    []string  `schema:"sameAs" json:"same_as,omitempty"`
}

// Rating is https://schema.org/AggregateRating.
type Rating struct {
	_     struct{} `schema:"AggregateRating"`
	Value float64  `schema:"ratingValue" json:"value"`
	Best  float64  `schema:"bestRating" json:"best,omitempty"`
	Count int      `schema:"ratingCount" json:"count,omitempty"`
}

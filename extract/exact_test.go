package extract_test

import (
	"context"
	"testing"

	"github.com/seine-go/seine/extract"
)

// Numbers that programs write are the same in every language; those that people read are in that of the page.
func TestLangIsForPeople(t *testing.T) {
	t.Parallel()
	const page = `<script type="application/ld+json">{"@type":"Movie","aggregateRating":{"ratingValue":7.125,"bestRating":"10.125"}}</script>
		<script>window.S={"r":7.125,"s":"7.125"}</script><script type="application/json" id=J>{"r":7.125}</script>
		<meta property="product:price:amount" content="1.299"><meta property="og:price" content="1.299"><meta name=label content="1.299,00">
		<div itemscope itemtype="https://schema.org/Product"><b itemprop=price content="12.345">12,345</b><i itemprop=weight>1.299</i><meter itemprop=value value=3.125>3</meter></div>
		<div vocab="https://schema.org/" typeof=Offer><b property=price content="22.345">x</b><i property=weight>2.299</i></div>
		<p class=r data-r="7.125">7,125</p><p class=n>1.299</p><data value="1.125">1</data>`
	tests := []struct {
		source string
		want   float64
	}{
		{"ld=Movie.aggregateRating.ratingValue", 7.125},
		{"ld=Movie.aggregateRating.bestRating", 10.125},
		{"state=S$.r", 7.125},
		{"state=S$.s", 7.125},
		{"state=J$.r", 7.125},
		{"meta=product:price:amount", 1.299},
		{"og=price", 1.299},
		{"meta=label", 1299},
		{"ld=Product.price", 12.345},
		{"ld=Product.weight", 1299},
		{"ld=Product.value", 3.125},
		{"ld=Offer.price", 22.345},
		{"ld=Offer.weight", 2299},
		{"css=[itemprop=price]@content", 12.345},
		{"xpath=//meta[@property='og:price']/@content", 1.299},
		{"css=.r@data-r", 7.125},
		{"css=data@value", 1.125},
		{"css=.r", 7.125},
		{"css=.n", 1299},
		{"state=S$.r || css=.r ; agree", 7.125},
	}
	for _, tt := range tests {
		type number struct{ N float64 }
		s, err := extract.Compile[number](extract.Options{Rules: extract.Rules{"N": {Tag: tt.source + " ; lang=de"}}})
		if err != nil {
			t.Fatal(err)
		}
		v, _, err := s.Extract(context.Background(), document(page))
		if err != nil || v.N != tt.want {
			t.Errorf("%s: %v, %v, want %v", tt.source, v.N, err, tt.want)
		}
	}
	within, err := extract.From[struct {
		P struct {
			Price  float64 `extract:"ld=Product.price ; lang=de"`
			Weight float64 `extract:"ld=Product.weight ; lang=de"`
		} `extract:"css=[itemscope]"`
		Data struct {
			Weight float64 `extract:"ld=weight ; lang=de"`
		} `extract:"ld=Product"`
		Body float64 `extract:"css=.n ; lang=de"`
	}](document(page))
	if err != nil || within.P.Price != 12.345 || within.P.Weight != 1299 || within.Data.Weight != 1299 {
		t.Errorf("%+v, %v", within, err)
	}
}

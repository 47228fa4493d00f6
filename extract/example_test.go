package extract_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/seine-go/seine/extract"
)

const page = `<!DOCTYPE html><base href="/list/">
<a href="1?x&amp;y#top">One</a> <a rel=nofollow href="/login">Log in</a> <a href="mailto:desk@films.example">Write</a>
<img src="/poster.jpg" srcset="/poster-2x.jpg 2x">`

func ExampleScan() {
	hints, err := extract.Scan([]byte(page), extract.ScanOptions{
		URL:    "https://films.example/list",
		Header: http.Header{"Link": {`<?page=2>; rel="next"`}},
		Want:   extract.WantImages,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, l := range hints.Links {
		fmt.Println(l.Kind, l.URL, l.NoFollow)
	}
	fmt.Println("next", hints.Next)
	fmt.Println("images", hints.Images)
	// Output:
	// header https://films.example/list?page=2 false
	// anchor https://films.example/list/1?x&y false
	// anchor https://films.example/login true
	// next https://films.example/list?page=2
	// images [https://films.example/poster.jpg https://films.example/poster-2x.jpg]
}

func ExampleScanReader() {
	hints, err := extract.ScanReader(strings.NewReader(page), extract.ScanOptions{URL: "https://films.example/list"},
		func(l extract.Link) bool {
			fmt.Println(l.URL)
			return true
		})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("base", hints.Base)
	// Output:
	// https://films.example/list/1?x&y
	// https://films.example/login
	// base https://films.example/list/
}

func ExampleNewDocument() {
	doc := extract.NewDocument([]byte("<h1>Les Quatre Cents Coups</h1><p class=year>1959 \x96 \xe9t\xe9"), extract.DocumentOptions{
		URL:      "https://films.example/1",
		Encoding: "windows-1252",
	})
	year, err := doc.Find("p.year")
	fmt.Println(year.Text(), err)
	_, err = doc.Find("p..year")
	fmt.Println(err)
	// Output:
	// 1959 – été <nil>
	// seine: css "p..year" at byte 2: a name is missing
}

// A page that says nothing of its encoding.
func ExampleDocument_Encoding() {
	page := []byte("<title>\xb5\xe7\xd3\xb0\xbd\xe9\xc9\xdc\xd3\xeb\xc6\xc0\xc2\xdb</title>")
	d := extract.NewDocument(page, extract.DocumentOptions{})
	title, err := d.Find("title")
	fmt.Println(d.Encoding().Name, d.Encoding().Source, title.Text(), err)
	// Output: gbk detected 电影介绍与评论 <nil>
}

func ExampleDocument_Form() {
	page := `<form action=/search method=post><input name=q><select name=year><option>2023<option>2024</select></form>`
	form, err := extract.NewDocument([]byte(page), extract.DocumentOptions{URL: "https://films.example/"}).Form("form")
	if err != nil {
		panic(err)
	}
	if err := errors.Join(form.Set("q", "Yi Yi"), form.Set("year", "2024")); err != nil {
		panic(err)
	}
	sent, err := form.Submit("")
	fmt.Println(sent.Method, sent.URL, string(sent.Body), err)
	fmt.Println(form.Set("year", "1999"))
	// Output:
	// POST https://films.example/search q=Yi+Yi&year=2024 <nil>
	// seine: extract: form field "year": no place for the value "1999"
}

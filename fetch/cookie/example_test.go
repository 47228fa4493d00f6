package cookie_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/seine-go/seine/fetch/cookie"
)

func ExampleJar() {
	jar := cookie.New(cookie.Options{})
	jar.Set(cookie.Exchange{URL: "https://www.films.example/login"}, "lang=中文; Domain=films.example; Path=/", "id=7; Secure; HttpOnly; Path=/")
	fmt.Println(jar.Header(cookie.Exchange{URL: "https://www.films.example/"}))
	fmt.Println(jar.Header(cookie.Exchange{URL: "https://img.films.example/"}))
	// Output:
	// lang=中文; id=7
	// lang=中文
}

func ExampleJar_sameSite() {
	jar := cookie.New(cookie.Options{})
	jar.Set(cookie.Exchange{URL: "https://films.example/"}, "link=1; SameSite=Lax", "own=1; SameSite=Strict")
	other := "https://news.example/today"
	fmt.Printf("%q\n", jar.Header(cookie.Exchange{URL: "https://films.example/"}))
	fmt.Printf("%q\n", jar.Header(cookie.Exchange{URL: "https://films.example/", From: other}))
	fmt.Printf("%q\n", jar.Header(cookie.Exchange{URL: "https://films.example/a.png", From: other, Embedded: true}))
	// Output:
	// "link=1; own=1"
	// "link=1"
	// ""
}

func ExampleParse() {
	_, err := cookie.Parse(cookie.Exchange{URL: "https://films.co.uk/"}, "id=7; Domain=co.uk", time.Now())
	fmt.Println(err)
	// Output: seine: cookie "id": the domain is a public suffix
}

func ExampleJar_WriteNetscape() {
	jar := new(cookie.Jar)
	jar.Set(cookie.Exchange{URL: "https://films.example/"}, "id=7; HttpOnly; Secure")
	if err := jar.WriteNetscape(os.Stdout); err != nil {
		panic(err)
	}
	// Output:
	// # Netscape HTTP Cookie File
	// #HttpOnly_films.example	FALSE	/	TRUE	0	id	7
}

func ExampleJar_ReadNetscape() {
	jar := new(cookie.Jar)
	err := jar.ReadNetscape(strings.NewReader(".films.example\tTRUE\t/\tFALSE\t0\tlang\tzh\n"))
	fmt.Println(err, jar.Header(cookie.Exchange{URL: "http://www.films.example/"}))
	// Output: <nil> lang=zh
}

func ExampleJar_MarshalJSON() {
	jar := cookie.New(cookie.Options{Now: func() time.Time { return time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC) }})
	jar.Set(cookie.Exchange{URL: "https://films.example/"}, "id=7; Max-Age=60")
	data, _ := json.Marshal(jar)
	fmt.Println(string(data))
	again := new(cookie.Jar)
	fmt.Println(json.Unmarshal(data, again))
	// Output:
	// {"version":1,"cookies":[{"name":"id","value":"7","domain":"films.example","host_only":true,"path":"/","expires":"2030-01-01T00:01:00Z","created":"2030-01-01T00:00:00Z","accessed":"2030-01-01T00:00:00Z"}]}
	// <nil>
}

func ExampleJars() {
	ctx := context.Background()
	jars := &cookie.Jars{} // with a Store, Save keeps them beyond the process
	one, _ := jars.Open(ctx, "one")
	two, _ := jars.Open(ctx, "two")
	one.Set(cookie.Exchange{URL: "https://films.example/"}, "id=1")
	x := cookie.Exchange{URL: "https://films.example/films"}
	fmt.Printf("%q %q\n", one.Header(x), two.Header(x))
	// Output: "id=1" ""
}

func ExampleJar_HTTP() {
	jar := new(cookie.Jar)
	client := &http.Client{Jar: jar.HTTP()}
	fmt.Println(client.Jar != nil)
	// Output: true
}

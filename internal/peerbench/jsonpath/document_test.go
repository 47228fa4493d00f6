package jsonpath

import (
	"fmt"
	"strings"
)

// document is one of some 34 KB, nested 12 levels deep; the value that is looked for lies where it is said.
func document(where string) []byte {
	var b strings.Builder
	target := func() {
		b.WriteString(`"metadata":{"tags":[`)
		for k := range 20 {
			fmt.Fprintf(&b, `{"env":"test","version":"1.%d.0","weight":%d},`, k, k)
		}
		b.WriteString(`{"env":"x","version":"0","weight":0}]},`)
	}
	b.WriteString(`{"root":{"data":{`)
	for k := range 72 {
		if where == "start" && k == 0 || where == "middle" && k == 36 {
			target()
		}
		fmt.Fprintf(&b, `"block%d":`, k)
		for d := range 9 {
			fmt.Fprintf(&b, `{"level%d":%d,"name%d":"value of %d","inner":`, d, d*k, d, k)
		}
		b.WriteString(`[1,2.5,true,null,"text \u00e9 and \"quotes\""]` + strings.Repeat("}", 9) + ",")
	}
	if where == "end" {
		target()
	}
	b.WriteString(`"last":1}}}`)
	return []byte(b.String())
}

// episodes is a list of a thousand, every other one available.
func episodes() []byte {
	var b strings.Builder
	b.WriteString(`{"data":{"episodes":[`)
	for k := range 1000 {
		status := "available"
		if k%2 == 1 {
			status = "announced"
		}
		fmt.Fprintf(&b, `{"number":%d,"title":"Episode %d","status":"%s","url":"https://films.example/e/%d"},`, k, k, status, k)
	}
	return []byte(strings.TrimSuffix(b.String(), ",") + "]}}")
}

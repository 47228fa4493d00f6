module github.com/seine-go/seine/internal/benchcrawl

go 1.26.0

require github.com/seine-go/seine v0.0.0

require (
	github.com/PuerkitoBio/goquery v1.14.0 // indirect
	github.com/andybalholm/brotli v1.3.0 // indirect
	github.com/andybalholm/cascadia v1.3.5 // indirect
	github.com/antchfx/xpath v1.3.9 // indirect
	github.com/klauspost/compress v1.20.4 // indirect
	github.com/theory/jsonpath v0.12.3 // indirect
	github.com/wlynxg/chardet v1.0.5 // indirect
	golang.org/x/net v0.62.0 // indirect
	golang.org/x/text v0.44.0 // indirect
)

replace github.com/seine-go/seine => ../..

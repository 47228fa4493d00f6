module github.com/seine-go/seine

go 1.26.0

require (
	github.com/PuerkitoBio/goquery v1.14.0
	github.com/andybalholm/brotli v1.3.0
	github.com/andybalholm/cascadia v1.3.5
	github.com/klauspost/compress v1.20.4
	github.com/theory/jsonpath v0.12.3
	golang.org/x/net v0.62.0
	golang.org/x/text v0.44.0
)

require github.com/antchfx/xpath v1.3.9

require github.com/wlynxg/chardet v1.0.5

require github.com/goccy/go-yaml v1.19.2

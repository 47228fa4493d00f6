module github.com/seine-go/seine/internal/benchcrawl

go 1.26.0

require github.com/seine-go/seine v0.0.0

replace github.com/seine-go/seine => ../..

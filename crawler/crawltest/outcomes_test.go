package crawltest_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seine-go/seine/fetch"
)

// What a Transport makes of each behaviour: the kind of its error, or the status, with why the body was cut. Several
// stand where it depends on what comes first.
var outcomes = map[string]string{
	"silent": "timeout", "drip-head": "timeout", "drip-body": "200, timeout|200, too slow|timeout", "drip-chunks": "200, timeout|200, too slow|timeout", "stall-head": "timeout",
	"stall-body": "200, timeout|timeout", "stall-end": "200, timeout|timeout", "endless-body": "200, body limit", "endless-stream": "200, body limit",

	"head-bytes": "header limit", "head-lines": "header limit", "head-cookie": "header limit", "head-line": "header limit", "head-early": "header limit",
	"head-continue": "header limit", "head-trailers": "200, header limit", "head-latin1": "200", "head-fold": "200", "head-lf": "200", "head-nul": "200",
	"head-name": "200", "head-reason": "200", "head-999": "999", "head-20": "protocol", "head-version": "200", "head-1.0": "200", "head-icy": "200",
	"head-none": "protocol", "head-blank": "200", "head-switch": "protocol", "head-304": "304",

	"chunk-size": "200, truncated body", "chunk-overflow": "200, truncated body", "chunk-negative": "200, truncated body", "chunk-crlf": "200, truncated body",
	"chunk-cut": "200, truncated body", "chunk-end": "200, truncated body", "chunk-extension": "200, truncated body", "chunk-bytes": "200",
	"length-long": "200, truncated body", "length-short": "200", "length-smuggle": "200", "length-two": "protocol", "length-negative": "200",
	"length-chunked": "200", "length-huge": "200, body limit", "length-none": "200", "close-now": "connection closed", "close-head": "connection closed",
	"close-next": "200", "reset-now": "connection closed", "reset-head": "connection closed", "reset-body": "200, truncated body|connection closed",

	"bomb-gzip": "200, body limit", "bomb-br": "200, body limit", "bomb-deflate": "200, body limit", "bomb-zstd": "200, body limit",
	"bomb-gzip-gzip": "200, body limit", "bomb-gzip-br": "200, body limit", "bomb-layers": "200, content coding|content coding", "bomb-window": "200, content coding",
	"bomb-unlisted": "200, body limit", "junk-gzip": "200", "junk-br": "200", "junk-deflate": "200", "junk-zstd": "200", "cut-gzip": "200, truncated body",
	"cut-br": "200, truncated body", "cut-deflate": "200, truncated body", "cut-zstd": "200, truncated body", "flip-gzip": "200, content coding",
	"flip-br": "200, content coding|200, truncated body|200", "flip-deflate": "200, content coding", "flip-zstd": "200, content coding", "not-gzip": "200",
	"not-br": "200", "not-deflate": "200", "not-zstd": "200", "raw-deflate": "200", "coding-unknown": "200, content coding|content coding", "coding-empty": "200",

	"charset-utf-8": "200", "charset-latin1": "200", "charset-meta": "200", "charset-two": "200", "charset-bom": "200", "charset-none": "200", "charset-binary": "200",

	"redirect-self": "redirect limit", "redirect-loop": "redirect limit", "redirect-cookie": "200", "redirect-wait": "redirect limit|200",
	"redirect-endless": "redirect limit", "redirect-grow": "redirect limit|redirect refused", "redirect-file": "refused address", "redirect-gopher": "refused address",
	"redirect-script": "refused address", "redirect-data": "refused address", "redirect-private": "refused address", "redirect-metadata": "refused address",
	"redirect-mapped": "refused address", "redirect-number": "refused address", "redirect-origin": "200", "redirect-nowhere": "302", "redirect-empty": "302",
	"redirect-odd": "302", "redirect-bytes": "200", "redirect-long": "200|redirect refused",

	"busy-429": "429", "busy-retry": "429", "busy-once": "503|200", "busy-two": "429", "busy-503": "503", "busy-500": "500",

	"robots-html": "200", "robots-huge": "200, body limit", "robots-line": "200", "robots-delay": "200", "robots-delays": "200", "robots-stars": "200",
	"robots-groups": "200",

	"page-links": "200, body limit", "page-nested": "200, body limit", "page-formatting": "200, body limit", "page-attributes": "200, body limit",
	"page-attribute": "200, body limit", "page-comment": "200, body limit", "page-urls": "200", "page-base": "200", "page-refresh": "200",

	"trap-query": "200", "trap-path": "200", "trap-paths": "200", "trap-calendar": "200", "trap-session": "200", "trap-sid": "200", "trap-self": "200", "trap-sort": "200",

	"tls-good": "200", "tls-expired": "tls", "tls-early": "tls", "tls-name": "tls", "tls-self": "tls", "tls-1.0": "tls", "tls-stall": "tls", "tls-drip": "tls",
	"tls-reset": "tls", "tls-close": "tls", "tls-plain": "tls", "tls-cut": "200",

	"h2-good": "200", "h2-padding": "200", "h2-pieces": "200", "h2-unknown": "200", "h2-fields": "200", "h2-trailers": "200", "h2-goaway-late": "200",
	"h2-http1": "protocol", "h2-no-settings": "protocol", "h2-settings-bad": "protocol", "h2-settings-flood": "protocol", "h2-ping-flood": "protocol",
	"h2-empty-flood": "200, truncated body", "h2-goaway-flood": "protocol", "h2-padding-flood": "200, truncated body", "h2-window-flood": "protocol", "h2-one-stream": "200", "h2-priority-flood": "protocol", "h2-early-flood": "header limit", "h2-continuation-flood": "header limit",
	"h2-head-large": "header limit", "h2-head-bomb": "header limit", "h2-hpack": "protocol", "h2-interleave": "protocol", "h2-frame-large": "200, truncated body|protocol",
	"h2-push": "protocol", "h2-data-first": "protocol", "h2-data-idle": "protocol", "h2-window-zero": "protocol", "h2-window-overflow": "protocol",
	"h2-flow": "200, truncated body|200, body limit", "h2-status-none": "protocol", "h2-status-two": "protocol", "h2-status-late": "protocol", "h2-status-101": "protocol",
	"h2-upper": "protocol", "h2-inject": "protocol", "h2-length-long": "200, truncated body", "h2-length-short": "200, truncated body",
	"h2-trailers-bad": "200, truncated body", "h2-refused": "connection closed", "h2-reset": "connection closed", "h2-reset-body": "200, truncated body",
	"h2-goaway": "connection closed", "h2-goaway-body": "200, truncated body", "h2-close": "connection closed", "h2-close-body": "200, truncated body",
	"h2-silent": "timeout", "h2-stall-body": "200, timeout|timeout", "h2-drip-body": "200, timeout|200, too slow|timeout", "h2-endless": "200, body limit",
}

// outcome is what came of a request, in the words of the table.
func outcome(resp *fetch.Response, err error) string {
	kind := func(err error) string { return strings.TrimPrefix(fetch.KindOf(err).String(), "seine: ") }
	switch {
	case err != nil:
		return kind(err)
	case resp.BodyErr() != nil:
		return fmt.Sprint(resp.Status, ", ", strings.TrimPrefix(kind(resp.BodyErr()), "seine: "))
	}
	return fmt.Sprint(resp.Status)
}

func expected(name, got string) bool { return slices.Contains(strings.Split(outcomes[name], "|"), got) }

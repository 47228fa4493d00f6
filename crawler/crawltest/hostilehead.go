package crawltest

const plainBody = "Content-Type: text/plain\r\nContent-Length: 4\r\n\r\nbody"

// headBehaviours have heads that are too large, odd or wrong.
var headBehaviours = []behaviour{
	on("head-bytes", "sends a header field of 100 MB (n bytes)", func(r *reply) {
		r.send("HTTP/1.1 200 OK\r\nX-Large: ")
		r.fill("x", r.size(100_000_000))
		r.raw("\r\n" + plainBody)
	}),
	on("head-lines", "sends 1,000,000 (n) header fields", func(r *reply) {
		r.send("HTTP/1.1 200 OK\r\n")
		r.series(r.size(1_000_000), "X-Field-%: value\r\n")
		r.raw(plainBody)
	}),
	on("head-cookie", "sets a cookie of 10 MB (n bytes)", func(r *reply) {
		r.send("HTTP/1.1 200 OK\r\nSet-Cookie: a=")
		r.fill("x", r.size(10_000_000))
		r.raw("\r\n" + plainBody)
	}),
	on("head-line", "sends a status line without end", func(r *reply) {
		r.send("HTTP/1.1 200 ")
		for r.fill("OK ", 1<<30) {
			continue
		}
	}),
	on("head-early", "sends 10,000 (n) answers 103 before the page", func(r *reply) {
		if r.series(r.size(10_000), "HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n") {
			r.html("hinted")
		}
	}),
	on("head-continue", "sends answers 100 without end", func(r *reply) {
		for r.series(1<<20, "HTTP/1.1 100 Continue\r\n\r\n") {
			continue
		}
	}),
	on("head-trailers", "sends 100 MB (n bytes) of trailers behind a chunked body", func(r *reply) {
		r.open("text/plain", "Trailer: X-Large\r\n")
		r.send("4\r\nbody\r\n0\r\nX-Large: ")
		r.fill("x", r.size(100_000_000))
		r.raw("\r\n\r\n")
	}),
	on("head-latin1", "has bytes of ISO-8859-1 in header values", func(r *reply) {
		r.raw("HTTP/1.1 200 Tr\xe8s bien\r\nX-Title: caf\xe9 \xff\r\nContent-Disposition: inline; filename=\"na\xefve.txt\"\r\n" + plainBody)
	}),
	on("head-fold", "has a header value over two lines (obs-fold)", func(r *reply) {
		r.raw("HTTP/1.1 200 OK\r\nX-Folded: one\r\n\ttwo\r\n  three\r\n" + plainBody)
	}),
	on("head-lf", "ends its lines with LF alone", func(r *reply) {
		r.raw("HTTP/1.1 200 OK\nContent-Type: text/plain\nContent-Length: 4\n\nbody")
	}),
	on("head-nul", "has control characters in header values", func(r *reply) {
		r.raw("HTTP/1.1 200 OK\r\nX-Nul: a\x00b\x07c\r\n" + plainBody)
	}),
	on("head-name", "has blanks before a colon, an empty name, and a line without a colon", func(r *reply) {
		r.raw("HTTP/1.1 200 OK\r\nX-Blank : a\r\n: empty\r\nno colon here\r\nX Y: z\r\n" + plainBody)
	}),
	on("head-reason", "has no reason phrase", func(r *reply) { r.raw("HTTP/1.1 200\r\n" + plainBody) }),
	on("head-999", "answers with the status 999", func(r *reply) { r.raw("HTTP/1.1 999 No Robots\r\n" + plainBody) }),
	on("head-20", "answers with a status of two digits", func(r *reply) { r.send("HTTP/1.1 20 OK\r\n" + plainBody) }),
	on("head-version", "claims to be HTTP/3.7", func(r *reply) { r.send("HTTP/3.7 200 OK\r\n" + plainBody) }),
	on("head-1.0", "answers as HTTP/1.0", func(r *reply) { r.send("HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nbody") }),
	on("head-icy", "speaks another protocol", func(r *reply) { r.send("ICY 200 OK\r\nicy-name: radio\r\n\r\nmusic") }),
	on("head-none", "sends a body without a head", func(r *reply) { r.send("<!doctype html><title>no head</title>\r\n\r\n") }),
	on("head-blank", "sends empty lines before the head", func(r *reply) { r.raw("\r\n\r\nHTTP/1.1 200 OK\r\n" + plainBody) }),
	on("head-switch", "answers 101 to a request that asked for no upgrade", func(r *reply) {
		r.send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nbytes of x")
		r.hold()
	}),
	on("head-304", "answers 304 to a request without conditions", func(r *reply) {
		r.raw("HTTP/1.1 304 Not Modified\r\nContent-Length: 1000\r\n\r\n")
	}),
}

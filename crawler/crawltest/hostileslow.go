package crawltest

import "strings"

// slowBehaviours never come to an end, or not soon.
var slowBehaviours = []behaviour{
	on("silent", "reads the request and never answers", func(r *reply) { r.hold() }),
	on("drip-head", "sends a byte of an endless head each second", func(r *reply) {
		r.send("HTTP/1.1 200 OK\r\nX-Drip: ")
		for r.drip(strings.Repeat("x", 1024)) {
			continue
		}
	}),
	on("drip-body", "sends a byte of a body of 1 GB each second", func(r *reply) {
		r.send("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 1000000000\r\n\r\n")
		for r.drip(strings.Repeat("x", 1024)) {
			continue
		}
	}),
	on("drip-chunks", "sends a chunk of one byte each second, without end", func(r *reply) {
		for ok := r.open("text/html", ""); ok; ok = r.send("1\r\nx\r\n") && r.pause(max(r.h.o.Interval, 0)) {
			continue
		}
	}),
	on("stall-head", "stops in the middle of the head", func(r *reply) {
		r.send("HTTP/1.1 200 OK\r\nContent-Ty")
		r.hold()
	}),
	on("stall-body", "stops in the middle of the body", func(r *reply) {
		r.send("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 1000\r\n\r\n<title>half")
		r.hold()
	}),
	on("stall-end", "sends all of a chunked body but its end", func(r *reply) {
		r.open("text/html", "")
		r.send("5\r\nwhole\r\n")
		r.hold()
	}),
	on("endless-body", "sends a body without end, as fast as it is taken", func(r *reply) {
		for ok := r.open("text/html", ""); ok; ok = r.chunks("endless ", 1<<30) {
			continue
		}
	}),
	on("endless-stream", "sends a body without length and end, as fast as it is taken", func(r *reply) {
		for ok := r.stream("text/html"); ok; ok = r.fill("endless ", 1<<30) {
			continue
		}
	}),
}

// on makes a behaviour of pages.
func on(name, doc string, serve func(*reply)) behaviour {
	return behaviour{Behaviour: Behaviour{Name: name, Doc: doc}, serve: serve}
}

package crawltest

// frameBehaviours have bodies that end elsewhere than they say, and connections that end when they should not.
var frameBehaviours = []behaviour{
	on("chunk-size", "has a chunk size that is no number", func(r *reply) {
		r.open("text/plain", "")
		r.send("4\r\ngood\r\nzz\r\nbad\r\n0\r\n\r\n")
	}),
	on("chunk-overflow", "has a chunk size beyond 64 bits", func(r *reply) {
		r.open("text/plain", "")
		r.send("4\r\ngood\r\nfffffffffffffffff\r\nbad")
	}),
	on("chunk-negative", "has a negative chunk size", func(r *reply) {
		r.open("text/plain", "")
		r.send("4\r\ngood\r\n-1\r\nbad\r\n0\r\n\r\n")
	}),
	on("chunk-crlf", "has chunks without an end of line behind them", func(r *reply) {
		r.open("text/plain", "")
		r.send("4\r\ngood4\r\nbad!\r\n0\r\n\r\n")
	}),
	on("chunk-cut", "closes in the middle of a chunk", func(r *reply) {
		r.open("text/plain", "")
		r.send("4\r\ngood\r\n64\r\ncut")
	}),
	on("chunk-end", "closes where the last chunk should come", func(r *reply) {
		r.open("text/plain", "")
		r.send("4\r\ngood\r\n")
	}),
	on("chunk-extension", "has a chunk extension without end", func(r *reply) {
		r.open("text/plain", "")
		r.send("4\r\ngood\r\n4;x=")
		for r.fill("y", 1<<30) {
			continue
		}
	}),
	on("chunk-bytes", "sends chunks of one byte, 100,000 (n) of them", func(r *reply) {
		r.open("text/plain", "")
		r.series(r.size(100_000), "1\r\nx\r\n")
		r.raw("0\r\n\r\n")
	}),
	on("length-long", "promises more than it sends, and closes", func(r *reply) {
		r.send("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 1000\r\n\r\ngood")
	}),
	on("length-short", "sends more than it promises, and goes on", func(r *reply) {
		r.raw("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\ngood and surplus")
	}),
	on("length-smuggle", "sends a whole second answer that nobody asked for", func(r *reply) {
		r.raw("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\ngood" +
			"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 6\r\n\r\npoison")
	}),
	on("length-two", "promises two different lengths", func(r *reply) {
		r.send("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 4\r\nContent-Length: 8\r\n\r\ngood")
	}),
	on("length-negative", "promises a negative length", func(r *reply) {
		r.send("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: -4\r\n\r\ngood")
	}),
	on("length-chunked", "promises a length and sends chunks", func(r *reply) {
		r.send("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n4\r\ngood\r\n0\r\n\r\n")
	}),
	on("length-huge", "promises 1 EB and sends 64 MB (n bytes)", func(r *reply) {
		r.send("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 1000000000000000000\r\n\r\n")
		r.fill("huge ", r.size(64_000_000))
	}),
	on("length-none", "has neither length nor chunks, and closes", func(r *reply) {
		if r.stream("text/plain") {
			r.send("good")
		}
	}),
	on("close-now", "closes without a byte", func(*reply) {}),
	on("close-head", "closes in the middle of the head", func(r *reply) { r.send("HTTP/1.1 200 OK\r\nContent-Ty") }),
	on("close-next", "answers, and closes exactly as the next request comes", func(r *reply) {
		r.page("text/plain", "good")
		r.closeNext = true
	}),
	on("reset-now", "resets the connection without a byte", func(r *reply) { r.reset() }),
	on("reset-head", "resets the connection in the middle of the head", func(r *reply) {
		r.send("HTTP/1.1 200 OK\r\nContent-Ty")
		r.reset()
	}),
	on("reset-body", "resets the connection in the middle of the body", func(r *reply) {
		r.send("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 1000\r\n\r\ngood")
		r.reset()
	}),
}

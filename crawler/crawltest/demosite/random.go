package demosite

// The streams of chance: what is drawn for one purpose never depends on what is drawn for another.
const (
	streamFilm = iota + 1
	streamTitle
	streamPerson
	streamName
	streamTorrent
	streamPoster
	streamToken
	streamDate
)

// dice is a sequence of numbers that (seed, stream, id) decides.
type dice struct{ state uint64 }

func roll(seed uint64, stream, id int) *dice {
	d := &dice{seed}
	d.state = d.next() ^ uint64(stream)*0xd1342543de82ef95
	d.state = d.next() ^ uint64(id)*0xaf251af3b0f025b5
	return d
}

// next is splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
func (d *dice) next() uint64 {
	d.state += 0x9e3779b97f4a7c15
	z := d.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// n is a number from 0 to limit-1.
func (d *dice) n(limit int) int { return int(d.next() % uint64(limit)) }

func pick[T any](d *dice, from []T) T { return from[d.n(len(from))] }

// steps are primes that divide no number of pairs of our word lists, so that each walks through all of them.
var steps = []int{7919, 6151, 3571, 2741, 1987, 9973, 5003, 8191}

// pair walks through the pairs of two lists of words in an order that the seed decides: ids from 1 get different
// pairs until all are used; round counts how often that has happened.
func pair(seed uint64, stream, id, first, second int) (a, b, round int) {
	d := roll(seed, stream, 0)
	step, offset := pick(d, steps), d.n(first*second)
	i := ((id-1)*step + offset) % (first * second)
	return i / second, i % second, (id - 1) / (first * second)
}

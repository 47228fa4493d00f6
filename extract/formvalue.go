package extract

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/html"
)

// htmlBlanks are the characters that HTML takes for blanks.
const htmlBlanks = " \t\n\f\r"

var (
	lineBreaks = strings.NewReplacer("\r", "", "\n", "")

	validNumber   = regexp.MustCompile(`^-?(\d+(\.\d+)?|\.\d+)([eE][+-]?\d+)?$`)
	leadingNumber = regexp.MustCompile(`^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?`)
	simpleColor   = regexp.MustCompile(`^#[0-9a-fA-F]{6}$`)
	monthForm     = regexp.MustCompile(`^(\d{4,9})-(\d\d)(?:-(\d\d))?$`)
	weekForm      = regexp.MustCompile(`^(\d{4,9})-W(\d\d)$`)
	timeForm      = regexp.MustCompile(`^(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,3})?)?$`)
)

// sanitize returns what a control holds when it is given a value: the value sanitization of its type (HTML 4.10.5.1).
func (f *formField) sanitize(value string) string {
	switch f.kind {
	case "text", "search", "tel", "password":
		return lineBreaks.Replace(value)
	case "url", "email":
		value = strings.Trim(lineBreaks.Replace(value), htmlBlanks)
		if f.kind == "url" || !f.many {
			return value
		}
		list := strings.Split(value, ",")
		for i := range list {
			list[i] = strings.Trim(list[i], htmlBlanks)
		}
		return strings.Join(list, ",")
	case "color":
		if !simpleColor.MatchString(value) {
			return "#000000"
		}
		return strings.ToLower(value)
	case "range":
		return f.scale.value(value)
	case "number":
		return only(value, isDecimal(value))
	case "date":
		return only(value, strings.Count(value, "-") == 2 && isMonthOrDate(value))
	case "month":
		return only(value, strings.Count(value, "-") == 1 && isMonthOrDate(value))
	case "week":
		return only(value, isWeek(value))
	case "time":
		return only(value, timeForm.MatchString(value))
	case "datetime-local":
		return localTime(value)
	}
	return value
}

func only(value string, valid bool) string {
	if valid {
		return value
	}
	return ""
}

func isDecimal(s string) bool {
	n, err := strconv.ParseFloat(s, 64)
	return err == nil && !math.IsInf(n, 0) && validNumber.MatchString(s)
}

// isMonthOrDate knows YYYY-MM and YYYY-MM-DD.
func isMonthOrDate(s string) bool {
	m := monthForm.FindStringSubmatch(s)
	if m == nil {
		return false
	}
	year, _ := strconv.Atoi(m[1])
	month, _ := strconv.Atoi(m[2])
	if year == 0 || month < 1 || month > 12 {
		return false
	}
	day, _ := strconv.Atoi(m[3])
	return m[3] == "" || day >= 1 && day <= time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// isWeek knows YYYY-Www. The 28th of December is in the last week of its year.
func isWeek(s string) bool {
	m := weekForm.FindStringSubmatch(s)
	if m == nil {
		return false
	}
	year, _ := strconv.Atoi(m[1])
	week, _ := strconv.Atoi(m[2])
	_, last := time.Date(year, time.December, 28, 0, 0, 0, 0, time.UTC).ISOWeek()
	return year > 0 && week >= 1 && week <= last
}

// localTime normalises a date and time: a T between them, the time as short as can be.
func localTime(s string) string {
	i := strings.IndexAny(s, "T ")
	if i < 0 || strings.Count(s[:i], "-") != 2 || !isMonthOrDate(s[:i]) || !timeForm.MatchString(s[i+1:]) {
		return ""
	}
	clock, fraction, _ := strings.Cut(s[i+1:], ".")
	if fraction = strings.TrimRight(fraction, "0"); fraction != "" {
		fraction = "." + fraction
	} else if len(clock) == len("00:00:00") {
		clock = strings.TrimSuffix(clock, ":00")
	}
	return s[:i] + "T" + clock + fraction
}

// formScale is what a range allows.
type formScale struct {
	min, max   float64
	step, base float64 // step is 0 where any value is allowed
}

func scaleOf(n *html.Node) formScale {
	number := func(name string, otherwise float64) float64 {
		text := leadingNumber.FindString(strings.TrimLeft(attrText(n, name), htmlBlanks))
		if v, err := strconv.ParseFloat(text, 64); err == nil {
			return v
		}
		return otherwise
	}
	s := formScale{min: number("min", 0), max: number("max", 100), base: number("min", number("value", 0))}
	if strings.EqualFold(attrText(n, "step"), "any") {
		return s
	}
	if s.step = number("step", 1); s.step <= 0 {
		s.step = 1
	}
	return s
}

// value returns the allowed value next to one that is given, or to the middle for what is no number.
func (s *formScale) value(text string) string {
	given := math.NaN()
	if isDecimal(text) {
		given, _ = strconv.ParseFloat(text, 64)
	}
	v := given
	if math.IsNaN(v) {
		v = s.min + (s.max-s.min)/2
	}
	v = max(min(v, s.max), s.min) // a maximum below the minimum does not count
	if s.step > 0 && s.max >= s.min {
		v = s.onStep(v)
	}
	if v == given {
		return text
	}
	if math.Abs(v) < 1e21 {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// onStep returns the step next to a value within the bounds, of two the higher; the value where there is none.
func (s *formScale) onStep(v float64) float64 {
	const near = 1e-9 // of a step: what decimal fractions lose in binary
	n := math.Floor((v-s.base)/s.step + 0.5)
	for _, n := range []float64{n, n - 1, n + 1} {
		step := s.base + n*s.step
		if math.Abs(step-v) <= near*s.step {
			return v
		}
		if decimal, err := strconv.ParseFloat(strconv.FormatFloat(step, 'g', 15, 64), 64); err == nil {
			step = decimal
		}
		if step >= s.min && step <= s.max {
			return step
		}
	}
	return v
}

// Package convert makes values of Go types of the texts that pages carry: numbers with separators and units, dates,
// durations, sizes, URLs. It never guesses: what does not read as a whole is an error.
package convert

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// Options says how texts are to be read.
type Options struct {
	Layouts  []string                        // of time.Time, tried in order; nil means the usual ones; see CheckLayout
	Location *time.Location                  // of times without a zone; nil means UTC
	Lang     string                          // "de", "fr-CH" …: names of months, order of figures in dates, decimal point; see Knows
	Unit     Unit                            // of numbers and durations
	Resolve  func(ref string) (string, bool) // makes a URL of a reference; nil leaves it as it is
}

// Unit is what a number counts.
type Unit struct {
	Bytes    bool          // sizes: "1.4 GB"
	Duration time.Duration // durations: how long one is
}

// Func sets dst, which can be set and is of the type that the Func is for.
type Func func(dst reflect.Value, s string, o *Options) error

var (
	timeType        = reflect.TypeFor[time.Time]()
	durationType    = reflect.TypeFor[time.Duration]()
	urlType         = reflect.TypeFor[url.URL]()
	numberType      = reflect.TypeFor[json.Number]()
	unmarshalerType = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// For returns the conversion to a type, or nil if there is none.
func For(t reflect.Type) Func {
	switch t {
	case timeType:
		return toTime
	case durationType:
		return toDuration
	case urlType:
		return toURL
	case numberType:
		return toNumber
	}
	if reflect.PointerTo(t).Implements(unmarshalerType) {
		return toText
	}
	switch t.Kind() {
	case reflect.String:
		return toString
	case reflect.Bool:
		return toBool
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return toInt
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return toUint
	case reflect.Float32, reflect.Float64:
		return toFloat
	case reflect.Interface:
		if t.NumMethod() == 0 {
			return func(dst reflect.Value, s string, _ *Options) error {
				dst.Set(reflect.ValueOf(s))
				return nil
			}
		}
	}
	return nil
}

// ReadsTexts reports whether a type reads texts itself, with UnmarshalText.
func ReadsTexts(t reflect.Type) bool {
	return t != timeType && t != urlType && reflect.PointerTo(t).Implements(unmarshalerType)
}

func toString(dst reflect.Value, s string, o *Options) error {
	if o.Resolve != nil {
		u, ok := o.Resolve(s)
		if !ok {
			return fmt.Errorf("%q is not a URL", cut(s))
		}
		s = u
	}
	dst.SetString(s)
	return nil
}

func toText(dst reflect.Value, s string, o *Options) error {
	if o.Resolve != nil {
		if u, ok := o.Resolve(s); ok {
			s = u
		}
	}
	return dst.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(s))
}

func toBool(dst reflect.Value, s string, _ *Options) error {
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "true", "yes", "1", "on", "y", "是", "有":
		dst.SetBool(true)
	case "false", "no", "0", "off", "n", "否", "无":
		dst.SetBool(false)
	default:
		return fmt.Errorf("%q is neither true nor false", cut(s))
	}
	return nil
}

// amount reads what a number of the unit says.
func amount(s string, o *Options) (Decimal, error) {
	switch {
	case o.Unit.Bytes:
		return Size(s, o.Lang)
	case o.Unit.Duration > 0:
		d, err := Duration(s, o.Unit.Duration, o.Lang)
		if err != nil {
			return Decimal{}, err
		}
		if d%o.Unit.Duration == 0 {
			return Number(strconv.FormatInt(int64(d/o.Unit.Duration), 10), "")
		}
		return Number(strconv.FormatFloat(float64(d)/float64(o.Unit.Duration), 'f', -1, 64), "")
	}
	return Number(s, o.Lang)
}

// wholeOf is the digits of a whole number.
func wholeOf(s string, o *Options) (string, error) {
	n, err := amount(s, o)
	if err != nil {
		return "", err
	}
	return n.Whole()
}

func toInt(dst reflect.Value, s string, o *Options) error {
	whole, err := wholeOf(s, o)
	if err != nil {
		return err
	}
	i, err := strconv.ParseInt(whole, 10, dst.Type().Bits())
	if err != nil {
		return fmt.Errorf("%q does not fit into %s", cut(s), dst.Type())
	}
	dst.SetInt(i)
	return nil
}

func toUint(dst reflect.Value, s string, o *Options) error {
	whole, err := wholeOf(s, o)
	if err != nil {
		return err
	}
	i, err := strconv.ParseUint(whole, 10, dst.Type().Bits())
	if err != nil {
		return fmt.Errorf("%q does not fit into %s", cut(s), dst.Type())
	}
	dst.SetUint(i)
	return nil
}

func toFloat(dst reflect.Value, s string, o *Options) error {
	n, err := amount(s, o)
	if err != nil {
		return err
	}
	f, err := strconv.ParseFloat(n.String(), dst.Type().Bits())
	if err != nil {
		return fmt.Errorf("%q does not fit into %s", cut(s), dst.Type())
	}
	dst.SetFloat(f)
	return nil
}

func toNumber(dst reflect.Value, s string, o *Options) error {
	n, err := amount(s, o)
	if err != nil {
		return err
	}
	if whole, err := n.Whole(); err == nil {
		dst.SetString(whole)
		return nil
	}
	dst.SetString(n.String())
	return nil
}

func toTime(dst reflect.Value, s string, o *Options) error {
	t, err := Time(s, o)
	if err == nil {
		dst.Set(reflect.ValueOf(t))
	}
	return err
}

func toDuration(dst reflect.Value, s string, o *Options) error {
	d, err := Duration(s, o.Unit.Duration, o.Lang)
	if err == nil {
		dst.SetInt(int64(d))
	}
	return err
}

func toURL(dst reflect.Value, s string, o *Options) error {
	s = strings.TrimSpace(s)
	if o.Resolve != nil {
		href, ok := o.Resolve(s)
		if !ok {
			return fmt.Errorf("%q is not a URL", cut(s))
		}
		s = href
	}
	u, err := url.Parse(s)
	if err != nil {
		var e *url.Error
		if errors.As(err, &e) {
			err = e.Err // without the URL, which may carry a password
		}
		return err
	}
	dst.Set(reflect.ValueOf(*u))
	return nil
}

// cut shortens what an error repeats of its input.
func cut(s string) string {
	if len(s) > 64 {
		return s[:64] + "…"
	}
	return s
}

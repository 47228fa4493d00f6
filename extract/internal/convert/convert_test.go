package convert_test

import (
	"math"
	"net/url"
	"reflect"
	"testing"
	"time"

	"github.com/seine-go/seine/extract/internal/convert"
)

func TestConversions(t *testing.T) {
	t.Parallel()
	bytes := convert.Options{Unit: convert.Unit{Bytes: true}}
	minutes := convert.Options{Unit: convert.Unit{Duration: time.Minute}}
	de, fr, ru := convert.Options{Lang: "de"}, convert.Options{Lang: "fr"}, convert.Options{Lang: "ru"}
	date := func(y, m, d int) time.Time { return time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC) }
	tests := []struct {
		text string
		want any // nil: an error
		into any
		o    convert.Options
	}{
		{"0", 0, 0, convert.Options{}},
		{"1,234,567", 1234567, 0, convert.Options{}},
		{"1.234.567", 1234567, 0, convert.Options{}},
		{"1 234", 1234, 0, convert.Options{}},
		{"1’234", 1234, 0, convert.Options{}},
		{"12.5万", 125000, 0, convert.Options{}},
		{"1.2亿", 120000000, 0, convert.Options{}},
		{"3.4K", 3400, 0, convert.Options{}},
		{"$ 1,299.00", 1299, 0, convert.Options{}},
		{"１２３", 123, 0, convert.Options{}},
		{"-5", -5, 0, convert.Options{}},
		{"1e3", 1000, 0, convert.Options{}},
		{"12,34,567", 1234567, 0, convert.Options{}},
		{"1.5", nil, 0, convert.Options{}},
		{"1.234", nil, 0, convert.Options{}},
		{"1.234", 1234, 0, de},
		{"", nil, 0, convert.Options{}},
		{"12 films", nil, 0, convert.Options{}},
		{"1,23,4", nil, 0, convert.Options{}},
		{"300", nil, int8(0), convert.Options{}},
		{"-1", nil, uint(0), convert.Options{}},
		{"1e999999999", nil, 0, convert.Options{}},
		{"9223372036854775807", int64(math.MaxInt64), int64(0), convert.Options{}},
		{"9223372036854775808", nil, int64(0), convert.Options{}},
		{"18446744073709551615", uint64(math.MaxUint64), uint64(0), convert.Options{}},
		{"8.7", 8.7, 0.0, convert.Options{}},
		{"8,7", 8.7, 0.0, convert.Options{}},
		{"8,750", 8750.0, 0.0, convert.Options{}},
		{"8,750", 8.75, 0.0, de},
		{"0,750", 0.75, 0.0, convert.Options{}},
		{"1.234,5", 1234.5, 0.0, convert.Options{}},
		{"85%", 85.0, 0.0, convert.Options{}},
		{"1.4 GB", int64(1400000000), int64(0), bytes},
		{"700 MiB", int64(700 << 20), int64(0), bytes},
		{"1,5 Go", int64(1500000000), int64(0), bytes},
		{"12", int64(12), int64(0), bytes},
		{"4 parsecs", nil, int64(0), bytes},
		{"136分钟", 136, 0, minutes},
		{"2小时16分", 136, 0, minutes},
		{"PT2H16M", 136, 0, minutes},
		{"2h 16min", 136, 0, minutes},
		{"136", 136, 0, minutes},
		{"1 hr. 36 mins.", 96, 0, minutes},
		{"PT1H30M", 90 * time.Minute, time.Duration(0), convert.Options{}},
		{"1:36:20", time.Hour + 36*time.Minute + 20*time.Second, time.Duration(0), convert.Options{}},
		{"96:20", 96*time.Minute + 20*time.Second, time.Duration(0), convert.Options{}},
		{"P1DT0.5S", 24*time.Hour + 500*time.Millisecond, time.Duration(0), convert.Options{}},
		{"2h16m0s", 136 * time.Minute, time.Duration(0), convert.Options{}},
		{"90", nil, time.Duration(0), convert.Options{}},
		{"P1Y", nil, time.Duration(0), convert.Options{}},
		{"P", nil, time.Duration(0), convert.Options{}},
		{"1:99", nil, time.Duration(0), convert.Options{}},
		{"two hours", nil, time.Duration(0), convert.Options{}},
		{"1999-03-31", date(1999, 3, 31), time.Time{}, convert.Options{}},
		{"1999", date(1999, 1, 1), time.Time{}, convert.Options{}},
		{"1999年3月31日", date(1999, 3, 31), time.Time{}, convert.Options{}},
		{"31 March 1999", date(1999, 3, 31), time.Time{}, convert.Options{}},
		{"3. März 1999", date(1999, 3, 3), time.Time{}, de},
		{"1er août 2001", date(2001, 8, 1), time.Time{}, fr},
		{"9 мая 2010 г.", date(2010, 5, 9), time.Time{}, ru},
		{"02/03/1999", nil, time.Time{}, convert.Options{}},
		{"02/03/1999", date(1999, 3, 2), time.Time{}, convert.Options{Layouts: []string{"02/01/2006"}}},
		{"soon", nil, time.Time{}, convert.Options{}},
		{"yes", true, false, convert.Options{}},
		{"0", false, true, convert.Options{}},
		{"maybe", nil, false, convert.Options{}},
		{"https://h/a?b", url.URL{Scheme: "https", Host: "h", Path: "/a", RawQuery: "b"}, url.URL{}, convert.Options{}},
		{"http://h:x/", nil, url.URL{}, convert.Options{}},
	}
	for _, tt := range tests {
		dst := reflect.New(reflect.TypeOf(tt.into)).Elem()
		err := convert.For(dst.Type())(dst, tt.text, &tt.o)
		if tt.want == nil {
			if err == nil {
				t.Errorf("%q into %s: %v, want an error", tt.text, dst.Type(), dst)
			}
			continue
		}
		want := tt.want
		if err != nil || !reflect.DeepEqual(dst.Interface(), want) {
			t.Errorf("%q into %s: %v, %v; want %v", tt.text, dst.Type(), dst, err, want)
		}
	}
}

func FuzzConvert(f *testing.F) {
	for _, s := range []string{"1,234.5", "12万", "2h 16min", "PT2H", "1:02:03", "1999年3月", "1.4 GB", "-0e-1"} {
		f.Add(s, "de")
	}
	f.Fuzz(func(t *testing.T, s, lang string) {
		o := convert.Options{Lang: lang}
		for _, v := range []any{0, uint8(0), 0.0, time.Duration(0), time.Time{}, false} {
			dst := reflect.New(reflect.TypeOf(v)).Elem()
			if err := convert.For(dst.Type())(dst, s, &o); err != nil && !dst.IsZero() {
				t.Fatalf("%q: a value beside an error: %v", s, dst)
			}
		}
		_, _ = convert.Size(s, lang)
	})
}

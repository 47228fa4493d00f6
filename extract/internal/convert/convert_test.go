package convert_test

import (
	"math"
	"net/url"
	"reflect"
	"strings"
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
		{"1.4 ГБ", int64(1400000000), int64(0), bytes},
		{"1 200 MB", int64(1200000000), int64(0), bytes},
		{"2024 2025", nil, 0, convert.Options{}},
		{"2024 200", nil, 0, convert.Options{}},
		{"12.3456.789", nil, 0, convert.Options{}},
		{"1.234,567 890", nil, 0, convert.Options{}},
		{"1,234 567", nil, 0, convert.Options{}},
		{"00 123", nil, 0, convert.Options{}},
		{"1,2345,6789", 123456789, 0, convert.Options{}},
		{"12'345'678", 12345678, 0, convert.Options{}},
		{"148 m", nil, 0, convert.Options{}},
		{"148m", nil, 0, convert.Options{}},
		{"12b", nil, 0, convert.Options{}},
		{"1.5M", 1500000, 0, convert.Options{}},
		{"12 k", 12000, 0, convert.Options{}},
		{"1 Mio.", 1000000, 0, de},
		{"2,5 Mrd. €", int64(2500000000), int64(0), de},
		{"3 billion", int64(3000000000), int64(0), convert.Options{}},
		{"3 billion", nil, int64(0), de},
		{"15 тыс.", 15000, 0, ru},
		{"190만", 1900000, 0, convert.Options{}},
		{"US$1,234", 1234, 0, convert.Options{}},
		{"-$5", -5, 0, convert.Options{}},
		{"1.234,50 EUR", 1234.5, 0.0, de},
		{"1'234.50", 1234.5, 0.0, convert.Options{Lang: "de-CH"}},
		{"1.234", 1234, 0, convert.Options{Lang: "de-DE"}},
		{"1,5 h", 90, 0, minutes},
		{"1 200 min", 1200, 0, minutes},
		{"1,5 h", 90 * time.Minute, time.Duration(0), convert.Options{}},
		{"1.500 min", 1500, 0, convert.Options{Lang: "de", Unit: convert.Unit{Duration: time.Minute}}},
		{"1 heure 45 minutes", 105 * time.Minute, time.Duration(0), fr},
		{"1h45", 105 * time.Minute, time.Duration(0), convert.Options{}},
		{"1 h 45", 105 * time.Minute, time.Duration(0), convert.Options{}},
		{"", nil, time.Duration(0), minutes},
		{"€", nil, time.Duration(0), minutes},
		{"0 min", time.Duration(0), time.Duration(0), convert.Options{}},
		{"1h99", nil, time.Duration(0), convert.Options{}},
		{"1 час", time.Hour, time.Duration(0), ru},
		{"1 час 20 мин.", 80 * time.Minute, time.Duration(0), ru},
		{"1시간 30분", 90 * time.Minute, time.Duration(0), convert.Options{}},
		{"1 Stunde und 5 Minuten", 65 * time.Minute, time.Duration(0), de},
		{"5 min 1 h", nil, time.Duration(0), convert.Options{}},
		{"5 6 min", nil, time.Duration(0), convert.Options{}},
		{"-5 min", nil, time.Duration(0), convert.Options{}},
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
		{"15.01.2024", date(2024, 1, 15), time.Time{}, de},
		{"15.01.2024", nil, time.Time{}, convert.Options{}},
		{"15.1.2024 10:30", date(2024, 1, 15).Add(10*time.Hour + 30*time.Minute), time.Time{}, convert.Options{Lang: "de-AT"}},
		{"15. Jan. 2024", date(2024, 1, 15), time.Time{}, de},
		{"Montag, 15. Januar 2024", date(2024, 1, 15), time.Time{}, de},
		{"15 janv. 2024", date(2024, 1, 15), time.Time{}, fr},
		{"15 juil. 2024", date(2024, 7, 15), time.Time{}, fr},
		{"15 jui 2024", nil, time.Time{}, fr},
		{"lundi 15 janvier 2024", date(2024, 1, 15), time.Time{}, fr},
		{"15 mar 2024", date(2024, 3, 15), time.Time{}, convert.Options{Lang: "es"}},
		{"mar 15 ene 2024", date(2024, 1, 15), time.Time{}, convert.Options{Lang: "es"}},
		{"15 de enero de 2024", date(2024, 1, 15), time.Time{}, convert.Options{Lang: "es"}},
		{"15 янв. 2024", date(2024, 1, 15), time.Time{}, ru},
		{"01/15/2024", date(2024, 1, 15), time.Time{}, convert.Options{Lang: "en-US"}},
		{"01/02/2024", nil, time.Time{}, convert.Options{Lang: "en"}},
		{"01/02/2024", date(2024, 2, 1), time.Time{}, convert.Options{Lang: "en-GB"}},
		{"2024-01-15(中国大陆)", date(2024, 1, 15), time.Time{}, convert.Options{}},
		{"2024年1月15日（周一） 星期一", nil, time.Time{}, convert.Options{}},
		{"2024年1月15日 星期一", date(2024, 1, 15), time.Time{}, convert.Options{}},
		{"Sept 5, 2024", date(2024, 9, 5), time.Time{}, convert.Options{}},
		{"September 5th, 2024", date(2024, 9, 5), time.Time{}, convert.Options{}},
		{"5th of September 2024", date(2024, 9, 5), time.Time{}, convert.Options{}},
		{"Thursday, Sep 5, 2024 3:04 pm", date(2024, 9, 5).Add(15*time.Hour + 4*time.Minute), time.Time{}, convert.Options{}},
		{"Sep 5, 2024 at 12:04 a.m.", date(2024, 9, 5).Add(4 * time.Minute), time.Time{}, convert.Options{}},
		{"2024-01-15T10:00Z", date(2024, 1, 15).Add(10 * time.Hour), time.Time{}, convert.Options{}},
		{"2024-01-15T10:00+08:00", date(2024, 1, 15).Add(2 * time.Hour), time.Time{}, convert.Options{}},
		{"2024-01-15T10:00:00+0800", date(2024, 1, 15).Add(2 * time.Hour), time.Time{}, convert.Options{}},
		{"2024-01-15 10:00:00.5 +0800", date(2024, 1, 15).Add(2*time.Hour + time.Second/2), time.Time{}, convert.Options{}},
		{"Mon, 15 Jan 2024 10:00:00 PST", date(2024, 1, 15).Add(18 * time.Hour), time.Time{}, convert.Options{}},
		{"Mon, 15 Jan 2024 10:00:00 GMT", date(2024, 1, 15).Add(10 * time.Hour), time.Time{}, convert.Options{}},
		{"Mon, 15 Jan 2024 10:00:00 XYZ", nil, time.Time{}, convert.Options{}},
		{"Mon Jan 15 10:00:00 2024", date(2024, 1, 15).Add(10 * time.Hour), time.Time{}, convert.Options{}},
		{"Monday, 15-Jan-24 10:00:00 UTC", date(2024, 1, 15).Add(10 * time.Hour), time.Time{}, convert.Options{}},
		{"1705312800", date(2024, 1, 15).Add(10 * time.Hour), time.Time{}, convert.Options{Layouts: []string{"unix"}}},
		{"1705312800500", date(2024, 1, 15).Add(10*time.Hour + time.Second/2), time.Time{}, convert.Options{Layouts: []string{"2006-01-02", "unixmilli"}}},
		{"1705312800", nil, time.Time{}, convert.Options{}},
		{"15. Okt. 2024", date(2024, 10, 15), time.Time{}, convert.Options{Lang: "de", Layouts: []string{"2. Jan. 2006"}}},
		{"15 oktober 2024", date(2024, 10, 15), time.Time{}, convert.Options{Lang: "nl", Layouts: []string{"2 Jan 2006"}}},
		{"10:00", nil, time.Time{}, convert.Options{}},
		{"2024-01-15" + strings.Repeat(" ", 246), date(2024, 1, 15), time.Time{}, convert.Options{}},
		{"2024-01-15" + strings.Repeat(" ", 247), nil, time.Time{}, convert.Options{}},
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
		if at, ok := want.(time.Time); ok && err == nil && dst.Interface().(time.Time).Equal(at) {
			continue
		}
		if err != nil || !reflect.DeepEqual(dst.Interface(), want) {
			t.Errorf("%q into %s: %v, %v; want %v", tt.text, dst.Type(), dst, err, want)
		}
	}
}

// Layouts in the notation of other languages are told.
func TestLayouts(t *testing.T) {
	t.Parallel()
	for layout, ok := range map[string]bool{
		"2006-01-02": true, "02/01/06": true, "2. January 2006": true, "15:04": true, "2006年1月2日": true, "unix": true, "unixmilli": true, time.RFC1123: true, "Jan _2 2006": true,
		"YYYY-MM-DD": false, "YYYY-01-02": false, "yyyy": false, "%Y-%m-%d": false, "": false, "date": false, "dd.01.2006": false,
	} {
		if err := convert.CheckLayout(layout); (err == nil) != ok {
			t.Errorf("%q: %v", layout, err)
		}
	}
	for lang, ok := range map[string]bool{"de": true, "de-DE": true, "pt_BR": true, "zh": true, "klingon": false, "": false, "xx": false} {
		if convert.Knows(lang) != ok {
			t.Errorf("%q: %t", lang, !ok)
		}
	}
}

// With a zone of its own a time may name the abbreviations of that zone.
func TestZones(t *testing.T) {
	t.Parallel()
	shanghai, err := time.LoadLocation("Asia/Shanghai")
	if err != nil {
		t.Fatal(err) // Go brings the zones with it
	}
	for text, hour := range map[string]int{"2024-07-15 10:00": 2, "2024-07-15 10:00:00 CST": 2, "2024-07-15 10:00 EST": 15, "2024-07-15T10:00Z": 10} {
		at, err := convert.Time(text, &convert.Options{Location: shanghai})
		if err != nil || at.UTC().Hour() != hour {
			t.Errorf("%s: %v, %v", text, at, err)
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

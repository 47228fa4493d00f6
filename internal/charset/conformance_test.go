package charset

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seine-go/seine/internal/conformance"
)

type declaredCase struct {
	Data     []byte `json:"data_base64"`
	Encoding string
}

type probeCase struct {
	ContentType *string `json:"content_type"`
	Data        []byte  `json:"data_base64"`
	MustContain string  `json:"must_contain"`
}

func TestConformance(t *testing.T) {
	declared, ofDeclared := conformance.Run(t, "charset", conformance.Load[declaredCase](t, "charset/html5lib-encoding.json"), func(c declaredCase) error {
		got, want := Declared(c.Data), Lookup(c.Encoding)
		if got == "" {
			got = "windows-1252"
		}
		if got != want {
			return fmt.Errorf("%s, want %s", got, want)
		}
		return nil
	})
	probes, ofProbes := conformance.Run(t, "charset-probe", conformance.Load[probeCase](t, "charset/probe.json"), func(c probeCase) error {
		var header []string
		if c.ContentType != nil {
			header = append(header, *c.ContentType)
		}
		found := Find(c.Data, header)
		text, err := Decode(c.Data, found.Name)
		if err != nil {
			return err
		}
		if !strings.Contains(string(text), c.MustContain) {
			return fmt.Errorf("taken for %v: %q", found, text)
		}
		return nil
	})
	if !t.Failed() {
		fmt.Printf("shown fetch.1: %d of %d cases of charset, %d of %d of charset-probe\n", declared, ofDeclared, probes, ofProbes)
	}
}

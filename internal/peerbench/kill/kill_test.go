package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// hang has the test's own program be a crawler that does nothing.
const hang = "SEINE_KILL_HANG"

func TestMain(m *testing.M) {
	if os.Getenv(hang) != "" {
		select {}
	}
	os.Exit(m.Run())
}

// What can be run is run and judged, what is missing is named, and without it nothing counts as shown.
func TestSeineIsKilledAndOthersAreMissing(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	nowhere := filepath.Join(t.TempDir(), "nowhere")
	o := options{pages: 200, kills: 3, c: 8, seed: 1, python: nowhere, node: nowhere, packages: nowhere, patience: time.Minute, limit: 5 * time.Minute}
	err := run(t.Context(), &out, o)
	var missing *missingError
	if !errors.As(err, &missing) || !strings.Contains(err.Error(), "apt-get install python3-scrapy") || !strings.Contains(err.Error(), "npm install crawlee") {
		t.Errorf("%v, want what is missing", err)
	}
	if text := out.String(); strings.Contains(err.Error(), "seine has to") || !strings.Contains(text, "SQLite") || strings.Contains(text, "shown") {
		t.Errorf("%v\n%s", err, text)
	}
}

// A crawler that does nothing loses all, however it ends.
func TestWhatIsLostIsCounted(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	o := options{pages: 10, kills: 1, c: 1, patience: 50 * time.Millisecond, limit: time.Minute}
	tests := map[string]struct {
		args []string
		want tally
	}{
		"ends at once": {[]string{"go", "version"}, tally{finished: true}},
		"fails":        {[]string{"go", "nonsense"}, tally{faults: mostFaults}},
		"hangs":        {[]string{self}, tally{stalls: mostFaults}},
	}
	for name, tt := range tests {
		o := o
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := peer{
				prepare: func(context.Context, string) (string, error) { return "", nil },
				command: func(ctx context.Context, _, _ string) *exec.Cmd {
					cmd := exec.CommandContext(ctx, tt.args[0], tt.args[1:]...)
					cmd.Env = append(os.Environ(), hang+"=1")
					return cmd
				},
			}
			if name != "hangs" { // a start that is slow is no stall
				o.patience = time.Minute
			}
			got, err := drive(t.Context(), p, o)
			tt.want.lost, tt.want.unasked, tt.want.took = o.pages, o.pages, got.took
			if err != nil || got != tt.want {
				t.Errorf("%+v, %v, want %+v", got, err, tt.want)
			}
			if got.judge(o) == nil {
				t.Error("it is found good")
			}
		})
	}
}

// The requests at which crawlers are killed are those of the seed, and each is another.
func TestPoints(t *testing.T) {
	t.Parallel()
	a, b := points(1, 100, 50), points(2, 100, 50)
	if !slices.Equal(a, points(1, 100, 50)) || slices.Equal(a, b) || len(slices.Compact(slices.Clone(a))) != 50 || a[0] < 1 || a[49] > 90 {
		t.Errorf("%v, %v", a, b)
	}
}

package extract_test

import (
	"reflect"
	"testing"

	"github.com/seine-go/seine/extract"
)

// Magnet links are found wherever they stand, and structs have them.
func TestMagnetsEverywhere(t *testing.T) {
	t.Parallel()
	type link struct {
		URI  string `extract:"magnet="`
		Only string `extract:"magnet=magnet"`
		Name string `extract:"css="`
		Size int    `extract:"css=@data-size"`
	}
	type film struct {
		All   []string `extract:"magnet="`
		Links []link   `extract:"magnet="`
	}
	page := document(`<p data-size=7>MAGNET:?xt=urn:btih:a1 and Magnet:?xt=urn:btih:a2.</p><button onclick="copy('magnet:?xt=urn:btih:b&amp;dn=x')">copy</button>
		<i data-clipboard-text=" magnet:?xt=urn:btih:c ">c</i><a href="/d.torrent?x=magnet:?">d</a><b title="not a magnet: ?">e</b><b data-x='{"m":"magnet:?xt=urn:btih:e"}'>e</b>`)
	want := []string{"MAGNET:?xt=urn:btih:a1", "Magnet:?xt=urn:btih:a2", "magnet:?xt=urn:btih:b&dn=x", "magnet:?xt=urn:btih:c", "https://h/d.torrent?x=magnet:?", "magnet:?xt=urn:btih:e"}
	v, err := extract.From[film](page)
	if err != nil || !reflect.DeepEqual(v.All, want) || len(v.Links) != len(want) {
		t.Fatalf("%+v, %v", v, err)
	}
	for i, l := range v.Links {
		if l.URI != want[i] || (l.Only == "") != (i == 4) {
			t.Errorf("%+v", l)
		}
	}
	if v.Links[1].Size != 7 || v.Links[2].Name != "copy" {
		t.Errorf("%+v", v.Links)
	}
}

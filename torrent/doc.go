// Package torrent reads and writes .torrent files and magnet links.
//
//	m, warnings, err := torrent.Parse(data, torrent.Options{})
//	if errors.Is(err, torrent.ErrNotBencode) { … }
//	for _, f := range m.Files {
//		fmt.Println(f.Path, f.Length)
//	}
//
// It knows version 1 (BEP 3), version 2 and hybrids of both (BEP 52). Info hashes are taken over the bytes of the
// info dictionary as they stand in the file, never over a re-encoding. Paths are safe by construction, and the stored
// ones stay available. Parsing is lenient about optional parts and says what it forgave; [Options] make it strict.
//
// Any input whatever gives a result or an error with a kind and an offset, within the bounds of [Limits]. The package
// depends on the standard library alone. It does not download anything.
package torrent

package release

import (
	"strings"
)

// Kind is what a file of a release is.
type Kind uint8

// The kinds of files.
const (
	Other    Kind = iota
	Video         // the film or episode itself
	Sample        // a short piece of it
	Extra         // trailers, featurettes and the like
	Subtitle      // also images of subtitles and their index
	Artwork       // posters, covers, screens
	Audio
	Text    // notes, checksums, playlists, links
	Archive // also parts of one, and disc images
)

func (k Kind) String() string {
	names := [...]string{"other", "video", "sample", "extra", "subtitle", "artwork", "audio", "text", "archive"}
	return names[min(int(k), len(names)-1)]
}

// extensions are those of files, in lower case.
var extensions = buildExtensions()

func buildExtensions() map[string]Kind {
	m := map[string]Kind{}
	for kind, list := range map[Kind]string{
		Video: "3g2 3gp asf avi divx f4v flv ifo m1v m2ts m2v m4v mk3d mkv mov mp2v mp4 mpe mpeg mpg mpv mts ogm ogv rm rmvb tp ts " +
			"vob webm wm wmv wtv xvid",
		Subtitle: "ass idx mks pgs psb scc smi srt ssa stl sub sup ttml usf vtt dfxp lrc sami",
		Artwork:  "avif bmp gif heic jfif jpeg jpg jxl png tbn tif tiff webp",
		Audio:    "aac ac3 aif aiff alac ape dsf dts eac3 flac m4a m4b mka mp2 mp3 mpa oga ogg opus thd truehd wav wma wv",
		Text:     "cue diz htm html json log m3u m3u8 md md5 nfo nzb par2 pdf pls rtf sfv sha1 sha256 srr torrent txt url website xml",
		Archive:  "001 7z ace bin bz2 dmg gz img iso mdf nrg rar tar tgz xz zip zst",
	} {
		for ext := range strings.FieldsSeq(list) {
			m[ext] = kind
		}
	}
	return m
}

// cutExtension cuts off an extension that is known. One with no name in front of it is no extension, and no name
// either.
func cutExtension(name string) (stem, ext string) {
	stem, ext = splitExtension(name)
	if _, ok := extensions[ext]; !ok || ext == "001" {
		return name, ""
	}
	if strings.Trim(stem, " .") == "" {
		return "", ""
	}
	return strings.TrimRight(stem, " "), ext
}

// splitExtension cuts at the last dot; ext is in lower case, and empty without a dot.
func splitExtension(name string) (stem, ext string) {
	i := strings.LastIndexByte(name, '.')
	if i < 0 {
		return name, ""
	}
	return name[:i], strings.ToLower(name[i+1:])
}

// SampleBytes is up to which size a video may be a sample by its name alone; greater ones are films whose title holds
// the word.
const SampleBytes = 300 << 20

// Classify tells what a file is by its path, with slashes between the elements, and its size in bytes; a size of zero
// or less is unknown.
func Classify(path string, size int64) Kind {
	elements := strings.Split(strings.ToLower(path), "/")
	name := elements[len(elements)-1]
	stem, ext := splitExtension(name)
	if strings.Trim(stem, " .") == "" {
		return Other
	}
	kind := extensions[ext]
	if kind == Other && isPart(name) {
		return Archive
	}
	if kind != Video {
		return kind
	}
	if size < SampleBytes {
		for i, e := range elements {
			if isSample(e, i < len(elements)-1) {
				return Sample
			}
		}
	}
	for i, e := range elements {
		if isExtra(e, i < len(elements)-1) {
			return Extra
		}
	}
	return Video
}

// isPart tells parts of an archive: .r00 and the like.
func isPart(name string) bool {
	i := strings.LastIndexByte(name, '.')
	if i < 0 || len(name)-i != 4 {
		return false
	}
	_, digits := number(name[i+2:], 2)
	return digits && 'r' <= name[i+1] && name[i+1] <= 'z' || digits && name[i+1] == '0'
}

func fields(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return !isWordRune(r) })
}

// isSample tells the word sample: as a folder, or at an end of the name of a file.
func isSample(element string, folder bool) bool {
	words := fields(element)
	if !folder && len(words) > 1 {
		words = words[:len(words)-1] // the extension
	}
	if len(words) == 0 {
		return false
	}
	is := func(w string) bool { return w == "sample" || w == "samples" || w == "smpl" }
	if folder {
		return len(words) == 1 && is(words[0])
	}
	return is(words[0]) || is(words[len(words)-1])
}

// isExtra tells words of additions: as a folder, or as the last word of the name of a file.
func isExtra(element string, folder bool) bool {
	words := fields(element)
	if !folder && len(words) > 1 {
		words = words[:len(words)-1]
	}
	if len(words) == 0 {
		return false
	}
	if !folder {
		switch words[len(words)-1] {
		case "trailer", "teaser", "featurette", "ncop", "nced", "interview", "deleted":
			return true
		}
		return false
	}
	switch strings.Join(words, " ") {
	case "extras", "extra", "featurettes", "trailers", "trailer", "bonus", "behind the scenes", "deleted scenes", "interviews",
		"special features", "bonus features", "shorts", "scenes":
		return true
	}
	return false
}

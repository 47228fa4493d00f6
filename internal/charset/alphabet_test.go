package charset

import "testing"

// Undeclared text of one byte a character, by the letters of its language.
func TestAlphabets(t *testing.T) {
	t.Parallel()
	const (
		polish     = "Film opowiada o życiu rybaka i jego córki nad brzegiem morza. Reżyser poświęcił mu trzy lata."
		czech      = "Film vypráví příběh rybáře a jeho dcery, kteří žijí u moře. Režisér mu věnoval tři roky."
		hungarian  = "A film egy halász és lánya életéről szól a tengerparton. A rendező három évet szentelt neki, és gyönyörű lett."
		romanian   = "Filmul povesteşte viaţa unui pescar şi a fiicei sale pe malul mării. Regizorul i-a dedicat trei ani, fără întrerupere."
		croatian   = "Film govori o životu ribara i njegove kćeri uz more. Redatelj mu je posvetio tri godine, što će se vidjeti već na početku."
		lithuanian = "Filmas pasakoja apie žveją ir jo dukterį, gyvenančius prie jūros. Režisierius jam skyrė trejus metus."
		latvian    = "Filma stāsta par zvejnieka un viņa meitas dzīvi jūras krastā. Režisors tai veltīja trīs gadus."
		turkish    = "Film, deniz kıyısında yaşayan balıkçının ve kızının öyküsünü anlatıyor. İki yönetmen ona üç yılını verdi."
		arabic     = "يحكي هذا الفيلم قصة صياد وابنته على شاطئ البحر. أمضى المخرج ثلاث سنوات في تصويره."
		german     = "Der Film erzählt vom Leben eines Fischers und seiner Tochter am Meer. Für ihn hat der Regisseur drei Jahre gebraucht: Größe!"
		spanish    = "La película cuenta la vida de un pescador y de su hija en la orilla del mar. ¿Cuántos años? El director le dedicó tres."
		portuguese = "O filme conta a história de um pescador e de sua filha. A direção não é fácil: são três anos de gravações."
		swedish    = "Filmen berättar om en fiskares och hans dotters liv vid havet. Regissören ägnade den tre år. På kvällen."
		icelandic  = "Myndin segir frá lífi sjómanns og dóttur hans við sjóinn. Það tók leikstjórann þrjú ár."
	)
	for _, c := range []struct{ encoding, text string }{
		{"windows-1250", polish},
		{"iso-8859-2", polish},
		{"windows-1250", czech},
		{"iso-8859-2", czech},
		{"windows-1250", hungarian},
		{"windows-1250", romanian},
		{"windows-1250", croatian},
		{"iso-8859-2", croatian},
		{"windows-1257", lithuanian},
		{"windows-1257", latvian},
		{"windows-1254", turkish},
		{"windows-1256", arabic},
		{"iso-8859-6", arabic},
		{"windows-1252", french},
		{"windows-1252", german},
		{"windows-1252", spanish},
		{"windows-1252", portuguese},
		{"windows-1252", swedish},
		{"windows-1252", icelandic},
		{"windows-1252", "café"},
		{"windows-1252", german + spanish + portuguese + swedish + french}, // of many languages
		{"windows-1252", "£30 for 10 m³, 20 m³ ½"},                         // which are letters in windows-1250
		{"windows-1252", "m³"},
	} {
		got := Find([]byte(page("", in(t, c.encoding, c.text))), nil)
		if got.Name != c.encoding || got.Source != Detected || got.Confidence < minDetected || got.Confidence > 0.9 {
			t.Errorf("%s, %.20q: %v", c.encoding, c.text, got)
		}
	}
	if got := Find([]byte("<p>\x81\xb3\x8d \xb3\x90 \xa1\x98"), nil); got.Source != Default || got.Confidence != 0 {
		t.Errorf("of no language: %v", got)
	}
	if got := Find([]byte(page("", "\xa35")), []string{"text/html; charset=utf-8"}); got.Name != "windows-1252" || got.Source != Detected {
		t.Errorf("a pound sign that is called UTF-8: %v", got)
	}
	long, short := Find([]byte(page("", in(t, "windows-1250", czech))), nil), Find([]byte("<p>"+in(t, "windows-1250", "Šťastný život")), nil)
	if short.Name != "windows-1250" || short.Confidence >= long.Confidence || long.Confidence >= 1 {
		t.Errorf("%v for a word, %v for a text", short, long)
	}
}

// What a header calls UTF-16 and is not is read as if it said nothing: the characters would all be Chinese.
func TestUTF16InTheHeaderAlone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, body, want string
		source           Source
	}{
		{"ASCII", page("", "film"), "windows-1252", Default},
		{"ASCII, declared inside", page("<meta charset=utf-16>", "film"), "utf-8", Meta},
		{"ASCII, declared otherwise inside", page("<meta charset=gbk>", "film"), "gbk", Meta},
		{"Latin-1", page("", in(t, "windows-1252", french)), "windows-1252", Detected},
		{"markup", in(t, "utf-16be", page("", "film")), "utf-16be", Header},
		{"Chinese", in(t, "utf-16be", chinese), "utf-16be", Header},
		{"nothing", "", "utf-16be", Header},
	} {
		got := Find([]byte(c.body), []string{"text/html; charset=utf-16be"})
		if got.Name != c.want || got.Source != c.source {
			t.Errorf("%s: %v, want %s by %s", c.name, got, c.want, c.source)
		}
	}
}

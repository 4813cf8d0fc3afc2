package jsworld

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestIntlIsLikeNode checks that each expression of testdata/intl.txt has the value below it.
func TestIntlIsLikeNode(t *testing.T) {
	text, err := os.ReadFile("testdata/intl.txt")
	if err != nil {
		t.Fatal(err)
	}
	vm := shimWorld(t)
	spaces := strings.NewReplacer("\u00a0", `\u00a0`, "\u202f", `\u202f`, "\u2009", `\u2009`)
	expression := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		want, is := strings.CutPrefix(line, "\t")
		if !is {
			expression = line
			continue
		}
		if err := vm.Set("expression", expression); err != nil {
			t.Fatal(err)
		}
		v, err := vm.RunString(`(() => { try { return String((0, eval)("(" + expression + ")")) } catch (e) { return "threw " + e.name } })()`)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, spaces.Replace(v.String())); diff != "" {
			t.Errorf("%s\n%s", expression, diff)
		}
	}
}

// TestIntlIsEnglish checks that other locales are accepted and give the texts of en-US.
func TestIntlIsEnglish(t *testing.T) {
	vm := shimWorld(t)
	v, err := vm.RunString(`[
		(1234.5).toLocaleString("de-DE"), new Date(0).toLocaleString("en-GB", { timeZone: "Europe/Berlin" }),
		new Intl.NumberFormat(["fr", "en"]).resolvedOptions().locale, Intl.Collator("sv").resolvedOptions().locale,
		Intl.ListFormat.supportedLocalesOf(["de", "en-GB", "en"]),
	].join(" | ")`)
	if want := "1,234.5 | 1/1/1970, 1:00:00 AM | en-US | en-US | en"; err != nil || v.String() != want {
		t.Errorf("%v, %v; want %s", v, err, want)
	}
}

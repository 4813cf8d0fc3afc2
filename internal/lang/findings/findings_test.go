package findings_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/lang/decode"
	"github.com/flowrun/flowrun/internal/lang/findings"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// below names files for readers who start above the working directory.
func below(file string) string {
	if file == "" || filepath.IsAbs(file) {
		return file
	}
	return "sub/" + file
}

// TestGitHub: what a message or a path holds cannot end its own command or property.
func TestGitHub(t *testing.T) {
	var b bytes.Buffer
	ds := tool.Diagnostics{
		{Code: "unknown-key", Severity: tool.Error, Pos: tool.Pos{File: "a,b:c.yaml", Line: 3, Col: 5}, Len: 4, Message: "100% wrong\n::error::x", Hint: "do\r\nthis"},
		{Code: "w", Severity: tool.Warning, Pos: tool.Pos{File: "b.yaml", Line: 1, Col: 1}, Message: "m"},
		{Code: "n", Severity: tool.Note, Message: "m"},
	}
	if err := findings.GitHub(&b, ds, below); err != nil {
		t.Fatal(err)
	}
	want := "::error file=sub/a%2Cb%3Ac.yaml,line=3,col=5,endColumn=9,title=flowrun unknown-key::100%25 wrong%0A::error::x%0Ado%0D%0Athis\n" +
		"::warning file=sub/b.yaml,line=1,col=1,endColumn=2,title=flowrun w::m\n" +
		"::notice title=flowrun n::m\n"
	if got := b.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestSARIF holds a log against what SARIF 2.1.0 demands.
func TestSARIF(t *testing.T) {
	const text = "\ufeffname: t\ndescription: d\nx-é𝒳: {A}\nbash: {𝒳} x\ntgas: [read]\n"
	read := func(name string) []byte {
		if name == "t.yaml" || filepath.IsAbs(name) {
			return []byte(text)
		}
		return nil
	}
	_, ds := decode.File("t.yaml", []byte(text))
	ds = append(ds,
		tool.Diagnostic{Code: "duplicate-step", Severity: tool.Warning, Pos: tool.Pos{File: "t.yaml", Line: 3, Col: 8}, Len: 3, Message: "m", Hint: "a hint",
			Related: []tool.Place{{Pos: tool.Pos{File: "t.yaml", Line: 1, Col: 1}, Len: 4, Message: "first"}}},
		tool.Diagnostic{Code: "cycle", Severity: tool.Note, Pos: tool.Pos{File: filepath.Join(t.TempDir(), "a b.yaml"), Line: 2, Col: 1}, Message: "m"},
		tool.Diagnostic{Code: "unreadable", Severity: tool.Error, Message: "nowhere"})
	var b bytes.Buffer
	if err := findings.SARIF(&b, ds, "1.2.3", read, below); err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(b.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	if doc["version"] != "2.1.0" || !strings.Contains(doc["$schema"].(string), "sarif-2.1.0") {
		t.Errorf("version %v, schema %v", doc["version"], doc["$schema"])
	}
	run := doc["runs"].([]any)[0].(map[string]any)
	driver := run["tool"].(map[string]any)["driver"].(map[string]any)
	rules := driver["rules"].([]any)
	results := run["results"].([]any)
	if driver["name"] != "flowrun" || run["columnKind"] != "utf16CodeUnits" || len(results) != len(ds) {
		t.Errorf("%d results of %d\n%s", len(results), len(ds), b.String())
	}
	fixes := 0
	for _, r := range results {
		r := r.(map[string]any)
		rule := rules[int(r["ruleIndex"].(float64))].(map[string]any)
		if rule["id"] != r["ruleId"] || rule["shortDescription"].(map[string]any)["text"] == "" {
			t.Errorf("rule %v of %v", rule, r)
		}
		if level := r["level"]; level != "error" && level != "warning" && level != "note" {
			t.Errorf("level %v", level)
		}
		if r["message"].(map[string]any)["text"] == "" {
			t.Errorf("no message: %v", r)
		}
		for _, key := range []string{"locations", "relatedLocations"} {
			list, _ := r[key].([]any)
			for _, l := range list {
				place := l.(map[string]any)["physicalLocation"].(map[string]any)
				uri := place["artifactLocation"].(map[string]any)["uri"].(string)
				if strings.ContainsAny(uri, ` \`) {
					t.Errorf("no URI: %q", uri)
				}
				checkRegion(t, place["region"].(map[string]any))
			}
		}
		list, _ := r["fixes"].([]any)
		for _, f := range list {
			fixes++
			for _, c := range f.(map[string]any)["artifactChanges"].([]any) {
				for _, re := range c.(map[string]any)["replacements"].([]any) {
					checkRegion(t, re.(map[string]any)["deletedRegion"].(map[string]any))
				}
			}
		}
	}
	if fixes == 0 {
		t.Errorf("no fix came through\n%s", b.String())
	}
	// Of the seven characters before the place, 𝒳 is two code units.
	if !strings.Contains(b.String(), `"startColumn": 9`) {
		t.Errorf("columns are not counted in UTF-16\n%s", b.String())
	}
}

func checkRegion(t *testing.T, r map[string]any) {
	t.Helper()
	for _, key := range []string{"startLine", "startColumn", "endColumn"} {
		if n, ok := r[key].(float64); !ok || n < 1 {
			t.Errorf("%s of %v", key, r)
		}
	}
}

// TestSARIFEmpty: without problems there is a log all the same, with empty lists.
func TestSARIFEmpty(t *testing.T) {
	var b bytes.Buffer
	if err := findings.SARIF(&b, nil, "", func(string) []byte { return nil }, below); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"results": []`, `"rules": []`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %s in\n%s", want, b.String())
		}
	}
}

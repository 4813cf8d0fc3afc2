package main

import (
	"bytes"
	"encoding/json"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"
)

// checkSBOM holds a document against what SPDX 2.3 demands and what is of use in it.
func checkSBOM(t *testing.T, text []byte, version, sum string) {
	t.Helper()
	var d document
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&d); err != nil {
		t.Fatal(err)
	}
	if d.SPDXVersion != "SPDX-2.3" || d.DataLicense != "CC0-1.0" || d.ID != "SPDXRef-DOCUMENT" || d.Name == "" {
		t.Errorf("the head of the document: %+v", d)
	}
	if !regexp.MustCompile(`^https://[^#\s]+$`).MatchString(d.Namespace) || len(d.Creation.Creators) == 0 {
		t.Errorf("the namespace %q, the creators %q", d.Namespace, d.Creation.Creators)
	}
	if _, err := time.Parse("2006-01-02T15:04:05Z", d.Creation.Created); err != nil {
		t.Error(err)
	}
	ids := []string{d.ID}
	for _, p := range d.Packages {
		if !regexp.MustCompile(`^SPDXRef-[A-Za-z0-9.-]+$`).MatchString(p.ID) || slices.Contains(ids, p.ID) {
			t.Errorf("the id %q is not an id, or of two packages", p.ID)
		}
		ids = append(ids, p.ID)
		if p.Name == "" || p.Version == "" || !strings.HasPrefix(p.Location, "https://") || p.Purpose == "" {
			t.Errorf("incomplete: %+v", p)
		}
		if len(p.Refs) != 1 || !regexp.MustCompile(`^pkg:golang/[^@\s]+@[^@\s+]+$`).MatchString(p.Refs[0].Locator) {
			t.Errorf("%s: the package URL %q", p.Name, p.Refs)
		}
	}
	for _, r := range d.Relationships {
		if !slices.Contains(ids, r.From) || !slices.Contains(ids, r.To) {
			t.Errorf("%+v is about an element that is not there", r)
		}
	}
	if r := d.Relationships[0]; r.Type != "DESCRIBES" || r.To != programID || len(d.Relationships) != len(d.Packages) {
		t.Errorf("the document describes %+v; %d relationships of %d packages", r, len(d.Relationships), len(d.Packages))
	}
	if p := d.Packages[0]; p.Version != version || len(p.Checksums) != 1 || p.Checksums[0].Value != sum {
		t.Errorf("the program: %+v", p)
	}
}

// TestSBOM: modules of every kind of version, one of them replaced.
func TestSBOM(t *testing.T) {
	info := &debug.BuildInfo{GoVersion: "go1.26.8", Main: debug.Module{Path: "github.com/flowrun/flowrun", Version: "(devel)"},
		Settings: []debug.BuildSetting{{Key: "GOOS", Value: "linux"}, {Key: "GOARCH", Value: "arm64"}},
		Deps: []*debug.Module{
			{Path: "github.com/BurntSushi/toml", Version: "v1.0.0", Sum: "h1:abc="},
			{Path: "example.org/old", Version: "v2.0.0+incompatible"},
			{Path: "example.org/pseudo_version", Version: "v0.0.0-20191010083416-a7dc8b61c822"},
			{Path: "example.org/ours", Version: "v1.0.0", Replace: &debug.Module{Path: "example.org/fork", Version: "v1.0.1"}},
		}}
	text, err := json.Marshal(newDocument(info, "flowrun", "0a0b", "1.2.3", time.Unix(1_700_000_000, 0).UTC()))
	if err != nil {
		t.Fatal(err)
	}
	checkSBOM(t, text, "1.2.3", "0a0b")
	for _, want := range []string{
		`"name":"flowrun 1.2.3 linux/arm64"`, `"created":"2023-11-14T22:13:20Z"`, `"pkg:golang/std@1.26.8"`,
		`"pkg:golang/github.com/BurntSushi/toml@v1.0.0"`, `"https://proxy.golang.org/github.com/!burnt!sushi/toml/@v/v1.0.0.zip"`, `"go.sum h1:abc="`,
		`"pkg:golang/example.org/old@v2.0.0%2Bincompatible"`, `"pkg:golang/example.org/fork@v1.0.1"`,
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("there is no %s in %s", want, text)
		}
	}
	if strings.Contains(string(text), "example.org/ours") {
		t.Error("it names a module that was replaced")
	}
}

func TestSBOMOfNoProgram(t *testing.T) {
	if err := run([]string{"sbom", "-version", "1.2.3", "sbom_test.go"}, new(bytes.Buffer)); err == nil || !strings.Contains(err.Error(), "cannot read the modules of sbom_test.go") {
		t.Error(err)
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{nil, {"sbom", "x"}, {"archive", "x"}, {"sums"}, {"sign"}, {"provenance", "x"}, {"unknown"}, {"date", "-date", "x"}} {
		if err := run(args, new(bytes.Buffer)); err == nil || !strings.Contains(err.Error(), "usage:") {
			t.Errorf("%q: %v", args, err)
		}
	}
}

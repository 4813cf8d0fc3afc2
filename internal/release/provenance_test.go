package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"maps"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// checkProvenance holds a statement against what in-toto and SLSA demand: it is about all files of a release
// besides itself, and names the commit, the parameters and every module.
func checkProvenance(t *testing.T, text []byte, made map[string][]byte) {
	t.Helper()
	s := decodeProvenance(t, text)
	if s.Type != "https://in-toto.io/Statement/v1" || s.PredicateType != "https://slsa.dev/provenance/v1" {
		t.Errorf("the types %q and %q", s.Type, s.PredicateType)
	}
	want, about := sums(made), map[string]string{}
	maps.DeleteFunc(want, func(name, _ string) bool {
		return strings.HasSuffix(name, "_provenance.json") || strings.HasPrefix(name, "SHA256SUMS")
	})
	for _, r := range s.Subject {
		about[r.Name] = r.Digest["sha256"]
	}
	if diff := cmp.Diff(want, about); diff != "" {
		t.Errorf("the subjects: -want +got:\n%s", diff)
	}
	definition := s.Predicate.BuildDefinition
	if p := definition.ExternalParameters; p["VERSION"] != theVersion || p["COMMIT"] != theCommit || p["EPOCH"] != "1700000000" ||
		!strings.Contains(p["SYSTEMS"], "linux") || !strings.Contains(p["ARCHITECTURES"], "amd64") {
		t.Errorf("the parameters %q", p)
	}
	source := resource{URI: "git+https://github.com/flowrun/flowrun", Digest: map[string]string{"gitCommit": theCommit}}
	if diff := cmp.Diff(source, definition.ResolvedDependencies[0]); diff != "" {
		t.Errorf("the source: -want +got:\n%s", diff)
	}
	for _, r := range definition.ResolvedDependencies[1:] {
		if len(r.Digest["dirHash"]) != 64 && r.URI != "pkg:golang/std@"+strings.TrimPrefix(runtime.Version(), "go") {
			t.Errorf("a module without a checksum: %+v", r)
		}
	}
	for _, module := range []string{"std", "modernc.org/sqlite", "go.temporal.io/sdk"} {
		if !slices.ContainsFunc(definition.ResolvedDependencies, func(r resource) bool { return strings.HasPrefix(r.URI, "pkg:golang/"+module+"@") }) {
			t.Errorf("no module %s", module)
		}
	}
	if b := s.Predicate.RunDetails.Builder; !strings.HasPrefix(b.ID, "https://") || b.Version["go"] != runtime.Version() {
		t.Errorf("the builder %+v", b)
	}
}

func decodeProvenance(t *testing.T, text []byte) (s statement) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&s); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestProvenance: two bills of materials with a module in common, and one that is this repository.
func TestProvenance(t *testing.T) {
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	write(t, file("b.tar.gz"), "an archive")
	h1 := "h1:" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{0xab}, 32))
	common := &debug.Module{Path: "example.org/common", Version: "v1.0.0", Sum: h1}
	for name, modules := range map[string][]*debug.Module{
		"b.spdx.json":          {common},
		"b.temporal.spdx.json": {common, {Path: "example.org/a", Version: "v2.0.0+incompatible", Sum: h1}, {Path: "github.com/flowrun/flowrun", Version: "v1.2.3"}},
	} {
		info := &debug.BuildInfo{GoVersion: "go1.26.8", Main: debug.Module{Path: "github.com/flowrun/flowrun"}, Deps: modules}
		var text bytes.Buffer
		if err := writeJSON(&text, newDocument(info, "flowrun", "0a0b", "1.2.3", time.Unix(1_700_000_000, 0).UTC())); err != nil {
			t.Fatal(err)
		}
		write(t, file(name), text.String())
	}
	var out bytes.Buffer
	args := []string{"provenance", "-commit", theCommit, "-parameter", "VERSION=1.2.3", "-parameter", "SYSTEMS=linux darwin",
		file("b.temporal.spdx.json"), file("b.tar.gz"), file("b.spdx.json")}
	if err := run(args, &out); err != nil {
		t.Fatal(err)
	}
	got := decodeProvenance(t, out.Bytes())
	var names []string
	for _, r := range got.Subject {
		names = append(names, r.Name)
	}
	if diff := cmp.Diff([]string{"b.spdx.json", "b.tar.gz", "b.temporal.spdx.json"}, names); diff != "" {
		t.Error(diff)
	}
	hash := map[string]string{"dirHash": strings.Repeat("ab", 32)}
	want := buildDefinition{
		BuildType:          "https://github.com/flowrun/flowrun/blob/main/docs/reference/release.md#building-a-release",
		ExternalParameters: map[string]string{"VERSION": "1.2.3", "SYSTEMS": "linux darwin"},
		ResolvedDependencies: []resource{
			{URI: "git+https://github.com/flowrun/flowrun", Digest: map[string]string{"gitCommit": theCommit}},
			{URI: "pkg:golang/example.org/a@v2.0.0%2Bincompatible", Digest: hash},
			{URI: "pkg:golang/example.org/common@v1.0.0", Digest: hash},
			{URI: "pkg:golang/std@1.26.8"},
		},
	}
	if diff := cmp.Diff(want, got.Predicate.BuildDefinition); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestProvenanceOfUncommittedChanges: what was built is not the commit, so its digest is not given.
func TestProvenanceOfUncommittedChanges(t *testing.T) {
	var out bytes.Buffer
	if err := run([]string{"provenance", "-commit", theCommit + "+dirty", "sbom.go"}, &out); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "gitCommit") {
		t.Error(&out)
	}
}

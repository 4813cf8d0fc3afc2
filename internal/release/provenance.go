package main

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// The provenance of a release is an in-toto Statement v1 with the predicate "SLSA Provenance v1": which files
// were built, from which commit, with which parameters, Go and modules. It has neither times nor the name of
// a machine, so that it is the same for everybody who builds the release.

const (
	repository  = "https://github.com/flowrun/flowrun"
	releasePage = repository + "/blob/main/docs/reference/release.md"
)

type statement struct {
	Type          string     `json:"_type"`
	Subject       []resource `json:"subject"`
	PredicateType string     `json:"predicateType"`
	Predicate     provenance `json:"predicate"`
}

type provenance struct {
	BuildDefinition buildDefinition `json:"buildDefinition"`
	RunDetails      runDetails      `json:"runDetails"`
}

type buildDefinition struct {
	BuildType            string            `json:"buildType"`
	ExternalParameters   map[string]string `json:"externalParameters"`
	ResolvedDependencies []resource        `json:"resolvedDependencies"`
}

type runDetails struct {
	Builder builder `json:"builder"`
}

type builder struct {
	ID      string            `json:"id"`
	Version map[string]string `json:"version"`
}

// resource is a file (by its name) or something on the network (by its address).
type resource struct {
	Name   string            `json:"name,omitempty"`
	URI    string            `json:"uri,omitempty"`
	Digest map[string]string `json:"digest,omitempty"`
}

// writeProvenance writes the provenance of files, which were built from a commit with parameters. The modules
// are those of the bills of materials among the files.
func writeProvenance(w io.Writer, commit string, parameters map[string]string, files []string) error {
	sortByName(files)
	var subjects []resource
	modules := map[string]resource{}
	for _, file := range files {
		sum, err := sha256Of(file)
		if err != nil {
			return err
		}
		subjects = append(subjects, resource{Name: filepath.Base(file), Digest: map[string]string{"sha256": sum}})
		if strings.HasSuffix(file, ".spdx.json") {
			if err := addModules(modules, file); err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
		}
	}
	dependencies := slices.SortedFunc(maps.Values(modules), func(a, b resource) int { return cmp.Compare(a.URI, b.URI) })
	return writeJSON(w, statement{
		Type: "https://in-toto.io/Statement/v1", Subject: subjects, PredicateType: "https://slsa.dev/provenance/v1",
		Predicate: provenance{
			BuildDefinition: buildDefinition{releasePage + "#building-a-release", parameters, append([]resource{sourceAt(commit)}, dependencies...)},
			RunDetails:      runDetails{builder{releasePage + "#provenance", map[string]string{"go": runtime.Version()}}},
		},
	})
}

// sourceAt returns the repository at a commit. With uncommitted changes the source is not that of the commit,
// and has no digest.
func sourceAt(commit string) resource {
	r := resource{URI: "git+" + repository}
	if !strings.HasSuffix(commit, "+dirty") {
		r.Digest = map[string]string{"gitCommit": commit}
	}
	return r
}

// addModules adds what a bill of materials lists besides this repository, by the package URL.
func addModules(modules map[string]resource, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var d document
	if err := json.Unmarshal(text, &d); err != nil {
		return err
	}
	ours := strings.Replace(repository, "https://", "pkg:golang/", 1)
	for _, p := range d.Packages {
		r := resource{URI: p.Refs[0].Locator}
		if strings.HasPrefix(r.URI, ours) {
			continue
		}
		if sum, ok := strings.CutPrefix(p.Comment, "go.sum h1:"); ok {
			hash, err := base64.StdEncoding.DecodeString(sum)
			if err != nil {
				return fmt.Errorf("the checksum of %s: %w", p.Name, err)
			}
			r.Digest = map[string]string{"dirHash": fmt.Sprintf("%x", hash)} // in-toto's name of h1
		}
		modules[r.URI] = r
	}
	return nil
}

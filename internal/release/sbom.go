package main

import (
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"time"
)

// The bill of materials is an SPDX 2.3 document in JSON. It has one package for flowrun,
// one for Go's standard library and one for each module in the program, and their
// dependencies. Vulnerability scanners use the package URLs.

type document struct {
	SPDXVersion   string         `json:"spdxVersion"`
	DataLicense   string         `json:"dataLicense"`
	ID            string         `json:"SPDXID"`
	Name          string         `json:"name"`
	Namespace     string         `json:"documentNamespace"`
	Creation      creation       `json:"creationInfo"`
	Packages      []component    `json:"packages"`
	Relationships []relationship `json:"relationships"`
}

type creation struct {
	Created  string   `json:"created"`
	Creators []string `json:"creators"`
}

type component struct {
	Name      string      `json:"name"`
	ID        string      `json:"SPDXID"`
	Version   string      `json:"versionInfo"`
	File      string      `json:"packageFileName,omitempty"`
	Location  string      `json:"downloadLocation"`
	Analyzed  bool        `json:"filesAnalyzed"`
	Licence   string      `json:"licenseDeclared,omitempty"`
	Checksums []checksum  `json:"checksums,omitempty"`
	Comment   string      `json:"comment,omitempty"`
	Purpose   string      `json:"primaryPackagePurpose"`
	Refs      []reference `json:"externalRefs"`
}

type checksum struct {
	Algorithm string `json:"algorithm"`
	Value     string `json:"checksumValue"`
}

type reference struct {
	Category string `json:"referenceCategory"`
	Type     string `json:"referenceType"`
	Locator  string `json:"referenceLocator"`
}

type relationship struct {
	From string `json:"spdxElementId"`
	Type string `json:"relationshipType"`
	To   string `json:"relatedSpdxElement"`
}

const (
	documentID = "SPDXRef-DOCUMENT"
	programID  = "SPDXRef-flowrun"
)

// readBuildInfo returns what the linker recorded in a program.
func readBuildInfo(program string) (*debug.BuildInfo, error) {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return nil, fmt.Errorf("cannot read the modules of %s: %w", program, err)
	}
	return info, nil
}

// effectiveModule returns the module that is in the program: the replacement of m, if there is one. A
// folder replaces a module of this release, which has its version.
func effectiveModule(m *debug.Module, version string) *debug.Module {
	switch {
	case m.Replace == nil:
		return m
	case m.Replace.Version == "" || m.Replace.Version == "(devel)":
		return &debug.Module{Path: m.Path, Version: "v" + version}
	}
	return m.Replace
}

func writeSBOM(w io.Writer, program, version string, date time.Time) error {
	info, err := readBuildInfo(program)
	if err != nil {
		return err
	}
	sum, err := sha256Of(program)
	if err != nil {
		return err
	}
	return writeJSON(w, newDocument(info, filepath.Base(program), sum, version, date))
}

func writeJSON(w io.Writer, doc any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(doc)
}

// newDocument returns the document about a program: a file with that digest, built as info
// describes.
func newDocument(info *debug.BuildInfo, file, sum, version string, date time.Time) document {
	name := strings.TrimSuffix(file, ".exe")
	d := document{
		SPDXVersion: "SPDX-2.3", DataLicense: "CC0-1.0", ID: documentID,
		Name: name + " " + version + " " + platform(info),
		// The namespace must be unique, and the same for the same program. The digest is
		// both.
		Namespace: "https://" + info.Main.Path + "/spdx/" + version + "/" + sum,
		Creation:  creation{date.Format(time.RFC3339), []string{"Organization: flowrun", "Tool: flowrun-release"}},
	}
	d.add("DESCRIBES", documentID, component{
		Name: name, ID: programID, Version: version, File: file, Location: "https://" + info.Main.Path,
		Licence: "Apache-2.0", Purpose: "APPLICATION", Checksums: []checksum{{"SHA256", sum}}, Refs: purl(info.Main.Path, "v"+version),
	})
	goVersion := strings.TrimPrefix(info.GoVersion, "go")
	d.add("DEPENDS_ON", programID, component{
		Name: "Go standard library", ID: "SPDXRef-std", Version: goVersion, Location: "https://go.dev/dl/",
		Licence: "BSD-3-Clause", Purpose: "LIBRARY", Refs: purl("std", goVersion),
	})
	for _, m := range info.Deps {
		m = effectiveModule(m, version)
		d.add("DEPENDS_ON", programID, component{
			Name: m.Path, ID: id(m), Version: m.Version, Location: "https://proxy.golang.org/" + escaped(m.Path) + "/@v/" + escaped(m.Version) + ".zip",
			Comment: goSum(m), Purpose: "LIBRARY", Refs: purl(m.Path, m.Version),
		})
	}
	return d
}

// add adds a package and its relationship to another element.
func (d *document) add(relation, from string, c component) {
	d.Packages = append(d.Packages, c)
	d.Relationships = append(d.Relationships, relationship{from, relation, c.ID})
}

// goSum returns the checksum of a module as a comment. The algorithm is the Go project's
// own, which SPDX does not have.
func goSum(m *debug.Module) string {
	if m.Sum == "" {
		return ""
	}
	return "go.sum " + m.Sum
}

// platform returns the target of a program: linux/amd64.
func platform(info *debug.BuildInfo) string {
	set := map[string]string{}
	for _, s := range info.Settings {
		set[s.Key] = s.Value
	}
	return set["GOOS"] + "/" + set["GOARCH"]
}

var noID = regexp.MustCompile(`[^A-Za-z0-9.-]`)

// id returns the name of a module's element: letters, digits, dots and dashes. Modules that
// differ only in other characters would get the same id; a test checks that there are none.
func id(m *debug.Module) string {
	return "SPDXRef-" + noID.ReplaceAllString(m.Path+"-"+m.Version, "-")
}

func purl(path, version string) []reference {
	return []reference{{"PACKAGE-MANAGER", "purl", "pkg:golang/" + path + "@" + strings.ReplaceAll(version, "+", "%2B")}}
}

// escaped escapes a path or version for the module proxy: an upper-case letter becomes !
// and its lower case.
func escaped(s string) string {
	var b strings.Builder
	for _, r := range s {
		if 'A' <= r && r <= 'Z' {
			b.WriteByte('!')
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Package explain contains a page for every code that flowrun prints: codes of
// diagnostics, notes of validate --detailed, reasons of steps and runs, codes of rejected
// parameters, errors of the HTTP API, and exit codes.
//
// A page is a Markdown file, pages/KIND-CODE.md: a title, an explanation and, if a
// definition can show the problem, a wrong example and the corrected one. Tests check that
// every code in the source has a page, that each wrong example gives its code, and that
// each corrected example gives no diagnostics.
package explain

import (
	"embed"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
)

//go:embed pages
var files embed.FS

// Kind is the kind of code that a page explains.
type Kind string

// The kinds, in the order in which lists show them.
const (
	Definition Kind = "definition" // diagnostics of definitions
	Practice   Kind = "practice"   // notes of validate --detailed
	Parameter  Kind = "parameter"  // problems with parameters of a call
	Run        Kind = "run"        // reasons of steps and runs
	Error      Kind = "error"      // error codes of the HTTP API
	Exit       Kind = "exit"       // exit codes of the command
)

// Kinds returns all kinds, in the order in which lists show them.
func Kinds() []Kind { return []Kind{Definition, Practice, Parameter, Run, Error, Exit} }

// Title returns the heading of a list of pages of the kind.
func (k Kind) Title() string {
	return map[Kind]string{
		Definition: "Problems in definitions",
		Practice:   "Best practices (validate --detailed)",
		Parameter:  "Rejected parameters",
		Run:        "Why a step did not succeed",
		Error:      "Errors of the HTTP API",
		Exit:       "Exit codes",
	}[k]
}

// Page explains one code.
type Page struct {
	Code  string
	Kind  Kind
	Title string // one line
	Text  string // the whole page, Markdown without the title
	// Wrong and Right are definitions. They are empty if no definition can show the problem.
	Wrong, Right string
}

// Pages returns all pages, sorted by kind and then by code. Do not change them.
func Pages() []Page { return pages() }

var pages = sync.OnceValue(func() []Page {
	var all []Page
	entries, err := fs.ReadDir(files, "pages")
	if err != nil {
		panic(err) // embedded: the build would have failed
	}
	for _, kind := range Kinds() {
		for _, e := range entries {
			code, ok := strings.CutPrefix(strings.TrimSuffix(e.Name(), ".md"), string(kind)+"-")
			if !ok {
				continue
			}
			text, err := fs.ReadFile(files, path.Join("pages", e.Name()))
			if err != nil {
				panic(err)
			}
			all = append(all, parse(kind, code, string(text)))
		}
	}
	return all
})

// renamed maps codes of earlier versions to what they are called now.
var renamed = map[string]string{"js-hole": "js-placeholder", "not-begun": "not-started", "unsafe-hole": "unsafe-placeholder"}

// Find returns the pages of a code: one in most cases, more if two kinds share a code.
// A code that was renamed finds the page of its new name.
func Find(code string) []Page {
	if now, ok := renamed[code]; ok {
		code = now
	}
	return slices.DeleteFunc(slices.Clone(Pages()), func(p Page) bool { return p.Code != code })
}

func parse(kind Kind, code, text string) Page {
	text = strings.ReplaceAll(text, "\r\n", "\n") // a checkout may have changed them
	title, rest, _ := strings.Cut(strings.TrimPrefix(text, "# "), "\n")
	return Page{Code: code, Kind: kind, Title: title, Text: strings.TrimSpace(rest) + "\n", Wrong: example(rest, "Wrong:"), Right: example(rest, "Right:")}
}

// example returns the code block below a label.
func example(text, label string) string {
	const fence = "```"
	_, rest, found := strings.Cut(text, "\n"+label+"\n\n"+fence+"yaml\n")
	if !found {
		return ""
	}
	body, _, _ := strings.Cut(rest, fence)
	return body
}

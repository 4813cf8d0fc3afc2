// Package explain holds a page for every word that flowrun answers with when
// something is not as it should be: the codes of diagnostics, the practices that
// validate --detailed speaks of, the reasons of steps that did not succeed, the codes
// of refused parameters, and the exit codes.
//
// A page is one Markdown file, pages/KIND-CODE.md: a title, what it means, and, where
// a definition can show it, one that is wrong and the same put right. The tests hold
// the pages against the source, which may use no code without one, and against the
// compiler: what a page calls wrong must give its code, and what it calls right must
// give nothing at all.
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

// Kind is what sort of word a page explains.
type Kind string

// The kinds, in the order in which lists show them.
const (
	Definition Kind = "definition" // diagnostics of definitions
	Practice   Kind = "practice"   // notes of validate --detailed
	Parameter  Kind = "parameter"  // problems with parameters of a call
	Run        Kind = "run"        // reasons of steps and runs
	Exit       Kind = "exit"       // exit codes of the command
)

// Kinds are all kinds, with what each is called in lists.
func Kinds() []Kind { return []Kind{Definition, Practice, Parameter, Run, Exit} }

// Title is what a list of pages of the kind is headed by.
func (k Kind) Title() string {
	return map[Kind]string{
		Definition: "Problems in definitions",
		Practice:   "Best practices (validate --detailed)",
		Parameter:  "Rejected parameters",
		Run:        "Why a step did not succeed",
		Exit:       "Exit codes",
	}[k]
}

// Page explains one word.
type Page struct {
	Code  string
	Kind  Kind
	Title string // one line
	Text  string // the whole page, Markdown without the title
	// Wrong and Right are definitions, or empty where none can show it.
	Wrong, Right string
}

// Pages are all pages, by kind and then by code. They are not to be changed.
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
var renamed = map[string]string{"js-hole": "js-placeholder", "unsafe-hole": "unsafe-placeholder"}

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

// example is the code block below a label.
func example(text, label string) string {
	const fence = "```"
	_, rest, found := strings.Cut(text, "\n"+label+"\n\n"+fence+"yaml\n")
	if !found {
		return ""
	}
	body, _, _ := strings.Cut(rest, fence)
	return body
}

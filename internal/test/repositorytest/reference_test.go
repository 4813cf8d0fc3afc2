package repositorytest

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/internal/lang/decode"
	"github.com/flowrun/flowrun/internal/lang/keytable"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

var update = flag.Bool("update", false, "rewrite generated files and goldens")

// TestReference keeps docs/reference/definitions.md what the table of keys says.
func TestReference(t *testing.T) {
	t.Chdir(top)
	const file = "docs/reference/definitions.md"
	page := reference()
	if *update {
		if err := os.WriteFile(file, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(b), page); diff != "" {
		t.Errorf("%s is not fresh; run go test -run Reference -update . (-file +table)\n%s", file, diff)
	}
}

// reference is the page: one table for every kind of mapping, in the order in
// which a reader meets them.
func reference() string {
	var b strings.Builder
	b.WriteString(`# Definitions

This page lists every key of a definition file. Markdown tools ([markdown.md](markdown.md)) have their own
sections. The page is generated from the table that also reads the files (` + "`internal/lang/tool/keys.go`" + `), so it is never
out of date. Other keys that begin with ` + "`x-`" + ` are yours. Any other unknown key is an error.

- **†** marks keys that exclude each other: use exactly one of them.
- Durations are milliseconds (` + "`1500`" + `) or text (` + "`90s`, `1m30s`, `1d12h`, `2w`" + `).
- Sizes are bytes or text: ` + "`10MB`" + ` is 10 000 000, ` + "`10MiB`" + ` is 10 485 760.

`)
	queue, seen := append([]*keytable.Object{tool.Keys()}, decode.MarkdownKeys()...), map[*keytable.Object]bool{tool.Keys(): true}
	for len(queue) > 0 {
		o := queue[0]
		queue = queue[1:]
		fmt.Fprintf(&b, "## %s\n\n%s\n\n| key | value | default | meaning |\n|---|---|---|---|\n", title(o.Name), o.Doc)
		for _, f := range o.Fields() {
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", f.Key, kind(f), code(f.Default), meaning(f))
			if f.Of != nil && !seen[f.Of] {
				seen[f.Of] = true
				queue = append(queue, f.Of)
			}
		}
		b.WriteString("\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

func title(name string) string {
	name = strings.TrimPrefix(strings.TrimPrefix(name, "a "), "an ")
	return strings.ToUpper(name[:1]) + name[1:]
}

func kind(f keytable.Field) string {
	words := make([]string, len(f.Enum))
	for i, w := range f.Enum {
		words[i] = "`" + w + "`"
	}
	switch f.Kind {
	case keytable.KindChoice:
		return strings.Join(words, ", ")
	case keytable.KindChoices:
		return "list of " + strings.Join(words, ", ")
	case keytable.KindObject:
		return "[" + title(f.Of.Name) + "](#" + anchor(f.Of) + ")"
	case keytable.KindTextOrObject:
		return "text, or [" + title(f.Of.Name) + "](#" + anchor(f.Of) + ")"
	case keytable.KindObjects:
		return "list of [" + title(f.Of.Name) + "](#" + anchor(f.Of) + ")"
	case keytable.KindChoiceOrObject:
		return strings.Join(words, ", ") + ", or [" + title(f.Of.Name) + "](#" + anchor(f.Of) + ")"
	case keytable.KindTextsOrObjects:
		return "list of text or [" + title(f.Of.Name) + "](#" + anchor(f.Of) + ")"
	case keytable.KindObjectMap:
		return "mapping of names to [" + title(f.Of.Name) + "](#" + anchor(f.Of) + ")"
	case keytable.KindTextOrObjectMap:
		return "mapping of names to text or [" + title(f.Of.Name) + "](#" + anchor(f.Of) + ")"
	case keytable.KindMatrix:
		return "[" + title(f.Of.Name) + "](#" + anchor(f.Of) + "), and a list for each name"
	case keytable.KindEnvironment:
		return "[" + title(f.Of.Name) + "](#" + anchor(f.Of) + "), or a mapping of names to text"
	case keytable.KindTexts:
		return "text, or list of text"
	case keytable.KindIntegers:
		return "integer, or list of integers"
	case keytable.KindValue:
		return "any value"
	case keytable.KindValues:
		return "list of any values"
	case keytable.KindValueMap:
		return "mapping of names to values"
	case keytable.KindTextMap:
		return "mapping of names to text"
	}
	return string(f.Kind)
}

// anchor is what a link to the object's section is called.
func anchor(o *keytable.Object) string { return slug(title(o.Name)) }

func code(s string) string {
	if s == "" {
		return ""
	}
	return "`" + s + "`"
}

var pageName = regexp.MustCompile(`\b[\w-]+\.md\b`)

func meaning(f keytable.Field) string {
	s := pageName.ReplaceAllStringFunc(f.Doc, func(page string) string {
		link := page
		if _, err := os.Stat("docs/reference/" + page); err != nil {
			link = "../explanation/" + page
		}
		return "[" + page + "](" + link + ")"
	})
	switch {
	case f.Required:
		s = "Required. " + s
	case f.Body:
		s = "† " + s
	}
	return s
}

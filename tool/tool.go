// Package tool has the names of a definition that a program needs to make one, or to read what is wrong with one. What
// a name means is documented where it is declared, in internal/lang/tool; the keys in docs/reference/definitions.md have the
// same names.
//
//	def, err := tool.Decode("report.yaml", text)
//	def := &tool.Definition{Name: "report", Steps: []*tool.Step{flowrun.GoStep("build", build)}}
//
// Fields of types that have no name here belong to the definition as this version of flowrun reads it: read them if you
// must, and expect them to change.
package tool

import (
	"github.com/flowrun/flowrun/internal/lang/decode"
	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// Decode reads a definition from src, the text of the named file: Markdown if the name ends in .md, YAML or JSON
// otherwise. The file is not opened. Its name is used in diagnostics, and as the name of the tool if the text has none.
//
// The error holds the Diagnostics of a definition that cannot be used: all its problems, sorted by position. The
// Definition is never nil; with an error, it has only the parts that could be read: enough for a listing, but not for a
// run. Problems returns warnings too.
func Decode(file string, src []byte) (*Definition, error) {
	def, problems := decode.File(file, src)
	return def, problems.Err()
}

// Problems returns all problems of a definition, as Decode reads it: those that Decode fails with, and warnings.
func Problems(file string, src []byte) Diagnostics {
	_, problems := decode.File(file, src)
	return problems
}

// Definition is one tool, from whatever format it was read.
type Definition = tool.Definition

// Parameter is one parameter of a tool.
type Parameter = tool.Parameter

// DeclaredOutput is one output that a tool or a step declares.
type DeclaredOutput = tool.DeclaredOutput

// Step is one step of a tool. flowrun.GoStep makes one of a Go function.
type Step = tool.Step

// Handlers are steps that run after a tool or a step has ended.
type Handlers = tool.Handlers

// Command is the body of a step that starts a program or a shell.
type Command = tool.Command

// BashCommand returns the body of a step that runs a script with bash.
func BashCommand(text Text) *Command { return tool.BashCommand(text) }

// Text is a text of a definition, with its position. It may have placeholders.
type Text = diagnostic.Text

// Plain returns a Text without a position.
func Plain(s string) Text { return diagnostic.Plain(s) }

// Pos is a position in a file. Line and Col count from 1; Col counts characters. The zero Pos is an unknown position.
type Pos = diagnostic.Pos

// Diagnostic is one problem in a definition: what is wrong, where, what was expected, and how to fix it. Its Code is
// stable across releases.
type Diagnostic = diagnostic.Diagnostic

// Diagnostics is a list of problems, sorted by position. It is an error if it contains at least one Diagnostic of
// severity Error; see Err.
type Diagnostics = diagnostic.Diagnostics

// Loader reads definitions of another format for a library.Library: see Library.Handle.
type Loader = tool.Loader

// Package ui holds what all commands of flowrun share: the streams and the terminal, colours,
// questions to a person, errors with their exit codes, diagnostics, completion, and access to
// settings, tools and the history.
//
// Env represents one invocation of the program. Its methods open settings and history on first use,
// so a command reads only what it needs. The package contains no commands and starts no runs.
package ui

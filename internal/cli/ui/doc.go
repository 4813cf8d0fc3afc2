// Package ui is what all commands of flowrun share: the streams and the terminal, colours,
// questions to a person, errors with their exit codes, diagnostics, completions, and how
// settings, tools and the history are found and opened.
//
// Env is one run of the program. Its methods open what they need when they are first
// called, so that a command reads no settings and no history that it does not use. The
// package knows no command, and starts no run.
package ui

// Package outcome is the table of errors: it says what each error is called at every entry
// point of flowrun.
//
// An error goes in and an Outcome comes out: the code of the HTTP API, the exit code of the
// command, the HTTP status, the code that a model is answered, and the way out. The command
// line, the HTTP API, the registry of tools for models and the execution log of Markdown
// tools print it in their own forms, and decide nothing by the type of an error.
//
// A row of the table needs the error's type, so that the errors of beginning, continuing and
// answering a run are declared here too, below the packages that return them. The package
// knows no streams, no requests and no runs, and writes nothing.
package outcome

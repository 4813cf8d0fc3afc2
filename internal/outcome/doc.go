// Package outcome is the table of errors: what each error is called at every entry point of
// flowrun.
//
// An error goes in (Of) and a Report comes out: the code and the status of the HTTP API, the
// exit code of the command, the code of the answer to a model, and hints. The command line, the
// HTTP API, the registry of tools for models and the execution log of Markdown tools print it in
// their own forms. None of them looks at the type of an error.
//
// A row of the table needs the type of its error. That is why the errors of starting, continuing
// and answering a run are declared here, below the packages that return them. The package does
// no I/O and knows nothing of requests, terminals and plans that run.
package outcome

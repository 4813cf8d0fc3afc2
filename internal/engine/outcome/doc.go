// Package outcome is the table of errors: the codes and texts of each error at every entry point of flowrun.
//
// Of turns an error into a Report: the code and the status of the HTTP API, the exit code of the command, the
// code of the answer to a model, and hints. The command line, the HTTP API, the registry of tools for models
// and the execution log of Markdown tools print it in their own forms. None of them checks the type of an
// error.
//
// A row of the table needs the type of its error. Therefore the errors of starting, continuing and answering a
// run are declared here, below the packages that return them. The package does no I/O and knows nothing of
// requests, terminals and running plans.
package outcome

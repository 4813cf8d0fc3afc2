// Package script runs the JavaScript of steps: from a compiled script and a call it produces the step's result.
//
// Runner collects what the script may see and passes it to hooks.Runtime. While the script runs it asks for things
// outside (files, fetch, programs, variables, storage, other tools); hostCalls and toolAPI answer, after package
// permission has allowed it. Transform is JavaScript that changes a parameter's value.
//
// The package does not start JavaScript engines itself (package hooks does), and it does not compile: the plan has a
// function that finds the tools that a script calls by name.
package script

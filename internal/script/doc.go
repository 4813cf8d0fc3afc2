// Package script runs the JavaScript of steps: a compiled script and a call go in, the
// step's result comes out.
//
// Runner puts together what the script may see and hands it to hooks.Runtime. While the
// script runs it asks for things outside (files, fetch, programs, variables, storage, other
// tools); hostCalls and toolAPI answer, after package permission has allowed it. Transform
// is JavaScript that changes a parameter's value.
//
// The package does not start JavaScript engines itself (package hooks does), and it does not
// compile: the plan has a function for tools that a script calls by name.
package script

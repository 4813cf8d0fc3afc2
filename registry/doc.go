// Package registry offers tools to language models: it finds the tool that a model names,
// reads the arguments it wrote, tells what the call would do, and runs it (specifications
// 003 and 004).
//
// # The model
//
// Every tool is a compiled definition, whatever it was written in, so there is one Tool for
// YAML, Markdown, JavaScript, Go, what a program tells of and what is built in.
// Tool.Parse reads the text that a model wrote as arguments, however sloppily, and
// answers an Invocation, or a Refusal that says what would have been right. An Invocation is
// one call that could be made: it says in a sentence what it will do (Describe), works out
// what a person is shown who is asked (Confirmation), and does it (Execute).
//
// Registry.Call goes the whole way of one call:
//
//	requested -> parsed -> found -> validated -> [confirming -> confirmed] -> executing -> executed -> answered
//
// and leaves it for answered wherever something is wrong: an unknown tool, arguments that
// have no single meaning, a no. Whatever happens comes back as an Answer, which is one JSON
// document with what the model is told and what a person is shown; an error never is. What
// needs a person's word is decided by the embedder: Options.Judge says which calls do,
// Options.Confirm asks.
//
// A Registry may be used by several goroutines at once.
package registry

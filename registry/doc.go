// Package registry offers tools to language models: it finds the tool that a model names, parses the arguments that
// the model wrote, describes what the call would do, and runs it (specifications 003 and 004).
//
// # The model
//
// Every tool is a compiled definition, so there is one type, Tool, for tools in YAML, Markdown, JavaScript and Go,
// for discovered and for built-in ones. Tool.Parse parses the text that a model wrote as arguments, and repairs it if
// it has only one reading. It returns an Invocation, or a Refusal that says what would have been right. An Invocation
// is one call that could be made: it describes in a sentence what it will do (Describe), computes what a person sees
// who is asked to approve it (Confirmation), and executes it (Execute).
//
// Registry.Call carries out one call from beginning to end:
//
//	requested -> parsed -> found -> validated -> [confirming -> confirmed] -> executing -> executed -> answered
//
// If something is wrong, it goes to answered at once: the tool is unknown, the arguments are ambiguous, or a person
// rejects the call. Every outcome is an Answer and never a Go error. An Answer is one JSON document with what the
// model reads and what a person sees. The embedder decides which calls need approval: Options.Decide says which,
// Options.Confirm asks a person.
//
// A Registry is safe for concurrent use.
package registry

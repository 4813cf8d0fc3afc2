// Package registry offers tools to language models: it finds the tool that a model names, parses the arguments that
// the model wrote, describes what the call would do, and runs it (specifications 003 and 004).
//
// # The model
//
// Every tool is a compiled definition, so there is one type, Tool, for tools in YAML, Markdown, JavaScript and Go,
// for discovered and for built-in ones. Tool.Parse parses the text that a model wrote as arguments, and repairs it if
// it has only one reading. It returns an Invocation, or a Refusal that says what would have been right. An Invocation
// is one call that could be made: it describes in a sentence what it will do (Describe), and computes what a person sees
// who is asked to approve it (Confirmation).
//
// One call goes from beginning to end in three steps, and whoever makes it decides between them whether it goes ahead:
//
//	Registry.Read      requested -> parsed -> found -> validated
//	Invocation.Ask     confirming                                    if a person must be asked
//	Invocation.Do      [confirmed] -> executing -> executed -> answered
//	Invocation.Reject  [declined or cancelled] -> answered
//
// If something is wrong before that, the first two answer at once: the tool is unknown, the arguments are ambiguous, or
// the call would fail. Every outcome is an Answer and never a Go error. An Answer is one JSON document with what the
// model reads and what a person sees.
//
// A Registry is safe for concurrent use.
package registry

// Package registry offers tools to language models: it finds the tool that a model names,
// reads the arguments it wrote, tells what the call would do, and runs it (specification
// 004).
package registry

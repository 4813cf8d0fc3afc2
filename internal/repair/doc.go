// Package repair reads the arguments that a language model wrote for a tool, however
// sloppily, and refuses what has no single meaning (specification 003).
package repair

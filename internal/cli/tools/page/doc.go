// Package page holds what the commands of flowrun tool share: their help pages, with options,
// examples and references, which also declare the flags of a command, and the options that choose a
// scope. It prints pages and finds tools in scopes. It contains no commands.
package page

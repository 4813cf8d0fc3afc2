// Package page is what the commands of flowrun tool share: their help, as a page of options,
// examples and references that also declares the flags of a command, and the options that
// choose a scope. It prints pages and finds tools in scopes; it contains no commands.
package page

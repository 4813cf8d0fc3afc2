// Package npm holds the command flowrun tool deps. It reads the npm packages that a script names,
// finds them next to the tool, lets npm fetch the others into the state directory, and removes
// those that neither a tool nor a recorded run needs. No other package fetches npm packages.
package npm

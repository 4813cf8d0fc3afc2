// Package npm is the command flowrun tool deps. It takes the npm packages that a script names,
// finds them beside the tool, has npm fetch the others into the state folder, and removes
// those that neither a tool nor a recorded run needs. Nothing else ever fetches packages.
package npm

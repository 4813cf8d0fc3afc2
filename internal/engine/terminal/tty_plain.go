//go:build unix && !linux && !darwin

package terminal

// inputIsUTF8 is nothing: these systems do not edit lines by characters.
const inputIsUTF8 = 0

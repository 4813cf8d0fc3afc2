// Package windowstest runs the program for Windows, and the tests of what is written for Windows alone, under wine. What
// wine does otherwise than Windows is named in docs/reference/platforms.md.
package windowstest

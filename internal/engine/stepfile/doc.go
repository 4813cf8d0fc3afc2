// Package stepfile reads the files in which steps write values: $FLOWRUN_OUTPUT and $FLOWRUN_STATE.
//
// [Parse] turns the text of a file into entries, [Collect] checks them against what was declared. The package does
// not know who declares values and what they are for.
//
// A file has lines NAME=value, values of several lines (NAME<<EOF, the lines, EOF), and JSON objects. If a name is
// written twice, the later value counts; null removes it.
package stepfile

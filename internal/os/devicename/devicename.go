// Package devicename knows the names that Windows does not give to files.
package devicename

import "strings"

// Is reports whether Windows opens a device instead of a file with this name, whatever follows the first dot: nul.txt is
// the null device.
func Is(name string) bool {
	stem, _, _ := strings.Cut(strings.ToLower(name), ".")
	switch {
	case len(stem) == 4 && stem[3] >= '0' && stem[3] <= '9':
		return stem[:3] == "com" || stem[:3] == "lpt"
	default:
		return stem == "con" || stem == "prn" || stem == "aux" || stem == "nul"
	}
}

package config

import "bytes"

// withoutComments replaces the comments of a JSON text, // to the end of the line and /*
// */, by spaces, so that all other positions stay the same. The programs that share
// settings.json with flowrun allow comments, which JSON does not have.
func withoutComments(src []byte) []byte {
	out := bytes.Clone(src)
	for i := 0; i < len(out); i++ {
		rest := out[i:]
		switch {
		case out[i] == '"':
			i += textLength(rest) - 1
		case bytes.HasPrefix(rest, []byte("//")):
			i += blankOut(rest, until(rest, "\n")) - 1
		case bytes.HasPrefix(rest, []byte("/*")):
			i += blankOut(rest, until(rest[2:], "*/")+2+2) - 1
		}
	}
	return out
}

// textLength returns the length of the JSON string at the start of src, with its quotes.
func textLength(src []byte) int {
	for i := 1; i < len(src); i++ {
		switch src[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(src)
}

// until returns the position of end in src, or the length of src.
func until(src []byte, end string) int {
	if i := bytes.Index(src, []byte(end)); i >= 0 {
		return i
	}
	return len(src)
}

// blankOut replaces n bytes by spaces, except for line ends, and returns how many bytes it
// covered.
func blankOut(src []byte, n int) int {
	n = min(n, len(src))
	for i := range src[:n] {
		if src[i] != '\n' && src[i] != '\r' {
			src[i] = ' '
		}
	}
	return n
}

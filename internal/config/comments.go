package config

import "bytes"

// withoutComments is JSON whose comments, // to the end of the line and /* */, became
// blanks: everything else stays in its place. The programs that settings.json is shared
// with allow them, though JSON has none.
func withoutComments(src []byte) []byte {
	out := bytes.Clone(src)
	for i := 0; i < len(out); i++ {
		rest := out[i:]
		switch {
		case out[i] == '"':
			i += textLength(rest) - 1
		case bytes.HasPrefix(rest, []byte("//")):
			i += blank(rest, until(rest, "\n")) - 1
		case bytes.HasPrefix(rest, []byte("/*")):
			i += blank(rest, until(rest[2:], "*/")+2+2) - 1
		}
	}
	return out
}

// textLength is how long the JSON string at the beginning is, with its quotes.
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

// until is where the end of a comment begins, or the end of the text.
func until(src []byte, end string) int {
	if i := bytes.Index(src, []byte(end)); i >= 0 {
		return i
	}
	return len(src)
}

// blank puts blanks in place of n bytes, but for the ends of lines, and answers how many
// there were.
func blank(src []byte, n int) int {
	n = min(n, len(src))
	for i := range src[:n] {
		if src[i] != '\n' && src[i] != '\r' {
			src[i] = ' '
		}
	}
	return n
}

package value

import (
	"errors"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// CheckJSON returns why encoding/json would replace a part of a JSON text by U+FFFD without a word: it is not UTF-8, or it
// has an escape of half of a surrogate pair. Whoever decodes what others wrote asks here first.
func CheckJSON(text []byte) error {
	if !utf8.Valid(text) {
		return errors.New("it is not UTF-8")
	}
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		r, ok := escaped(text[i:])
		switch {
		case !ok:
			i++ // the escaped character
		case !utf16.IsSurrogate(r):
			i += 5
		default:
			low, _ := escaped(text[min(i+6, len(text)):])
			if utf16.DecodeRune(r, low) == utf8.RuneError {
				return fmt.Errorf("%s is half of a surrogate pair, which is not a character", text[i:i+6])
			}
			i += 11
		}
	}
	return nil
}

// escaped returns the character of an escape \uXXXX at the start of a text.
func escaped(text []byte) (rune, bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(text[2:6]), 16, 32)
	return rune(n), err == nil
}

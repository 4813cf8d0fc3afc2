package keytable

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// jsonAsYAML rewrites JSON as YAML. JSON is valid YAML except for two escapes that the parser does not support: \/ and
// characters written as two \u. jsonAsYAML replaces these and adds spaces after the string, so that everything else
// keeps its position. It returns nil for text that is not JSON.
func jsonAsYAML(text []byte) []byte {
	if !json.Valid(text) {
		return nil
	}
	var out bytes.Buffer
	saved, quoted := 0, false
	for i := 0; i < len(text); {
		switch {
		case text[i] == '"':
			quoted = !quoted
			out.WriteByte('"')
			if !quoted {
				out.Write(bytes.Repeat([]byte(" "), saved))
				saved = 0
			}
			i++
		case quoted && text[i] == '\\':
			escape, n := yamlEscape(text[i:])
			out.WriteString(escape)
			saved += n - len(escape)
			i += n
		default:
			out.WriteByte(text[i])
			i++
		}
	}
	return out.Bytes()
}

// yamlEscape converts the JSON escape at the start of text to YAML, and returns its length in JSON.
func yamlEscape(text []byte) (escape string, n int) {
	switch text[1] {
	case '/':
		return "/", 2
	case 'u':
		r := hex4(text)
		switch {
		case !utf16.IsSurrogate(r):
			return string(text[:6]), 6
		case len(text) >= 12 && text[6] == '\\' && text[7] == 'u' && utf16.DecodeRune(r, hex4(text[6:])) != utf8.RuneError:
			return fmt.Sprintf(`\U%08x`, utf16.DecodeRune(r, hex4(text[6:]))), 12
		}
		return `\ufffd`, 6
	}
	return string(text[:2]), 2
}

// hex4 returns the number in a \uXXXX. json.Valid has already checked the digits.
func hex4(escape []byte) rune {
	n, _ := strconv.ParseUint(string(escape[2:6]), 16, 16)
	return rune(n)
}

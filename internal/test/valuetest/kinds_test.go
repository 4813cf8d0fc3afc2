package valuetest

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

// kind is a value as somebody writes it.
type kind struct {
	written string
	number  string // the value of a parameter of type number; "" if it is refused
	plain   bool   // YAML can have it without quotes, with this meaning for text
}

var kinds = map[string]kind{
	"3.10":               {"3.10", "3.10", true},
	"1e3":                {"1e3", "1e3", true},
	"-0":                 {"-0", "-0", true},
	"leading zero":       {"01234", "1234", true},
	"zeros and point":    {"0012.50", "12.50", true},
	"08":                 {"08", "8", true},
	"hexadecimal":        {"0x10", "16", true},
	"underscore":         {"1_000", "1000", true},
	"20 digits":          {"12345678901234567890", "12345678901234567890", true},
	"no":                 {"no", "", true},
	"True":               {"True", "", true},
	"date":               {"2024-01-02", "", true},
	"sexagesimal":        {"1:30", "", true},
	"dash":               {"-x", "", true},
	"home":               {"$HOME", "", true},
	"at sign":            {"a@b=c", "", true},
	"tilde":              {"~", "", false},
	"null":               {"null", "", false},
	"empty":              {"", "", false},
	"single quote":       {"it's", "", true},
	"double quote":       {`say "it`, "", true},
	"backslash":          {`a\nb\`, "", true},
	"line ends":          {"a\nb\n\n", "", false},
	"CRLF":               {"a\r\nb\r\n", "", false},
	"carriage return":    {"a\rb\r", "", false},
	"tab":                {"\ta\t", "", false},
	"NUL":                {"a\x00b", "", false},
	"byte order mark":    {"\ufeffa", "", false},
	"not UTF-8":          {"caf\xe9", "", false},
	"replacement":        {"\ufffd", "", false},
	"emoji":              {"😀", "", true},
	"line separator":     {"a\u2028b\u0085", "", false},
	"200 KB":             {strings.Repeat("0123456789abcde ", 12800) + ".", "", true},
	"spaces":             {"  a  ", "", false},
	"braces":             {"{X}", "", false},
	"JSON list":          {`["a", 1.0]`, "", false},
	"JSON object":        {`{"a": 1e3}`, "", false},
	"comment":            {"a #b", "", false},
	"mark of the record": {"%41", "", false},
}

// yaml returns the value as it is written in a definition.
func (k kind) yaml(plain bool) string {
	switch {
	case plain:
		return k.written
	case utf8.ValidString(k.written):
		return strconv.QuoteToASCII(k.written)
	}
	return `"` + k.written + `"`
}

// json returns the value as it is written in JSON: a number if it is one there.
func (k kind) json(plain bool) string {
	if plain && json.Valid([]byte(k.written)) {
		return k.written
	}
	if !utf8.ValidString(k.written) {
		return `"` + k.written + `"`
	}
	b, err := json.Marshal(k.written)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// types are the types of parameters that the value is passed to. Few values show that what is not a number is refused, and
// what commands get is text.
func (k kind) types(entry string) []string {
	if entry == "command" || entry == "env-files" || k.number == "" && len(k.written) > 4 {
		return []string{"string"}
	}
	return []string{"string", "number"}
}

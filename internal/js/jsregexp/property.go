package jsregexp

import (
	"bytes"
	"compress/zlib"
	_ "embed"
	"io"
	"strconv"
	"strings"
	"sync"
)

//go:embed properties.zlib
var compressed []byte

// lines are the lines of properties.zlib by their kind and name: "gc Lu".
var lines = sync.OnceValue(func() map[string]string {
	found := map[string]string{}
	r, err := zlib.NewReader(bytes.NewReader(compressed))
	if err != nil {
		panic(err) // the data is part of this program
	}
	text, err := io.ReadAll(r)
	if err != nil {
		panic(err)
	}
	for line := range strings.Lines(string(text)) {
		words := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 3)
		ranges := ""
		if len(words) == 3 {
			ranges = words[2]
		}
		for name := range strings.SplitSeq(words[1], "=") {
			found[words[0]+" "+name] = ranges
		}
	}
	return found
})

// Property returns the set of a property as it is written between the braces of \p{...}: "Lu", "Script=Greek". ok is
// false if there is none with that name.
func Property(text string) (s Set, ok bool) {
	name, value, long := strings.Cut(text, "=")
	kinds := []string{"gc", "binary"}
	switch name {
	case "General_Category", "gc":
		kinds = []string{"gc"}
	case "Script", "sc":
		kinds = []string{"sc"}
	case "Script_Extensions", "scx":
		kinds = []string{"scx"}
	default:
		if long {
			return nil, false
		}
		value = name
	}
	for _, kind := range kinds {
		if ranges, ok := lines()[kind+" "+value]; ok {
			return parseRanges(ranges), true
		}
	}
	return nil, false
}

// parseRanges reads the ranges of a line: the gap to the last range and the length of each, in base 36.
func parseRanges(text string) (s Set) {
	at := rune(0)
	words := strings.Fields(text)
	for i := 0; i+1 < len(words); i += 2 {
		from := at + number(words[i])
		at = from + number(words[i+1])
		s = append(s, Range{from, at - 1})
	}
	return s
}

func number(word string) rune {
	n, err := strconv.ParseInt(word, 36, 32)
	if err != nil {
		panic(err) // the data is part of this program
	}
	return rune(n)
}

package funcschema

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"sync"
)

const (
	// maxName is the longest name, in characters, that every provider accepts.
	maxName = 64
	// clientPrefix is what clients of MCP put before the names of a server that they call flowrun. The provider gets both as
	// one name.
	clientPrefix = "mcp__flowrun__"
)

var invalidNameChars = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[^A-Za-z0-9_-]`) })

// Name returns the name under which a tool is declared, and which the calls of a model use: letters, digits,
// '_' and '-', at most 64 characters, and 50 for MCP. For Gemini it does not begin with a digit. A name that is cut ends with
// a digest of the whole, so that tools whose names begin alike have different ones.
func Name(tool string, f Format) string {
	name, most := invalidNameChars().ReplaceAllString(tool, "_"), maxName
	if f == Gemini && name != "" && name[0] >= '0' && name[0] <= '9' {
		name = "_" + name
	}
	if f == MCP {
		most -= len(clientPrefix)
	}
	if len(name) <= most {
		return name
	}
	sum := sha256.Sum256([]byte(tool))
	end := "_" + hex.EncodeToString(sum[:4])
	return name[:most-len(end)] + end
}

// shorten cuts the name of a parameter, of ASCII characters.
func shorten(name string) string { return name[:min(len(name), maxName)] }

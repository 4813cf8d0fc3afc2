package launch

import (
	"errors"
	"strconv"
	"strings"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/keytable"
	"github.com/flowrun/flowrun/internal/lang/value"
)

// Params are the parameters that the user gave on the command line and in a document.
type Params struct {
	Values  map[string]any
	written map[string]keytable.Value // those from the document, with their locations
}

// Locate adds locations in the document to the problems with parameters that err reports.
func (p *Params) Locate(err error) error {
	bad, ok := errors.AsType[*value.ParamsError](err)
	if !ok || len(p.written) == 0 {
		return err
	}
	located := *bad
	located.Problems = nil
	for _, problem := range bad.Problems {
		if v, ok := p.written[problem.Parameter()]; ok {
			at := locate(v, strings.TrimPrefix(problem.Name, problem.Parameter()))
			problem.Message = at.String() + ": " + problem.Message
		}
		located.Problems = append(located.Problems, problem)
	}
	return &located
}

// locate returns the location of the value at a path such as [0].name inside v, or of the innermost
// value around it that exists.
func locate(v keytable.Value, path string) diagnostic.Pos {
	at := v.Pos
	for i, item := range v.List {
		if rest, ok := cutPart(path, strconv.Itoa(i)); ok {
			return locate(item, rest)
		}
	}
	longest := 0
	for _, e := range v.Map {
		if rest, ok := cutPart(path, e.Key); ok && len(e.Key) >= longest { // a key may contain dots
			at, longest = locate(e.Value, rest), len(e.Key)
		}
	}
	return at
}

// cutPart cuts the first part from a path. It reports whether that is the given one.
func cutPart(path, part string) (rest string, ok bool) {
	for _, form := range []string{"." + part, "[" + part + "]"} {
		rest, ok = strings.CutPrefix(path, form)
		if ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			return rest, true
		}
	}
	return "", false
}

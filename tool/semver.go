package tool

import (
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/flowrun/flowrun/internal/diagnostic"
)

// Version is a semantic version, taken apart. Build metadata is not kept: it has no
// place in the order of versions.
type Version struct {
	Major, Minor, Patch int
	Pre                 string // alpha.1 of 1.0.0-alpha.1
}

var (
	wholeForm = diagnostic.Pattern(`^(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})(-((0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)(\.(0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*))*))?(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$`)
	shortForm = diagnostic.Pattern(`^v?[0-9]{1,9}(\.[0-9]{1,9}){0,2}$`)
)

// ParseVersion reads a semantic version. exact says whether it is one to the
// letter: one or two numbers, and a v before them, are understood, but are none.
func ParseVersion(s string) (v Version, exact, ok bool) {
	exact = wholeForm().MatchString(s)
	if !exact && !shortForm().MatchString(s) {
		return Version{}, false, false
	}
	s, _, _ = strings.Cut(strings.TrimPrefix(s, "v"), "+")
	s, v.Pre, _ = strings.Cut(s, "-")
	for i, part := range strings.Split(s, ".") {
		n, _ := strconv.Atoi(part) // digits, few enough
		*[]*int{&v.Major, &v.Minor, &v.Patch}[i] = n
	}
	return v, exact, true
}

// Compare orders versions as semantic versioning does: -1 where v comes before o.
func (v Version) Compare(o Version) int { return semver.Compare(v.canonical(), o.canonical()) }

func (v Version) canonical() string {
	s := fmt.Sprintf("v%d.%d.%d", v.Major, v.Minor, v.Patch)
	if v.Pre != "" {
		s += "-" + v.Pre
	}
	return s
}

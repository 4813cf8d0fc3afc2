// Package version reads and orders the versions of tools, which are semantic versions.
package version

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
)

// Version is a parsed semantic version. Build metadata is dropped, because it does not affect the order of versions.
type Version struct {
	Major, Minor, Patch int
	Pre                 string // alpha.1 in 1.0.0-alpha.1
}

const (
	full  = `^(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})(-((0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)(\.(0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*))*))?(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$`
	short = `^v?[0-9]{1,9}(\.[0-9]{1,9}){0,2}$`
)

var fullForm, anyForm = diagnostic.Pattern(full), diagnostic.Pattern(full + "|" + short)

// Form returns the pattern of the texts that Parse accepts.
func Form() *regexp.Regexp { return anyForm() }

// Parse parses a semantic version. One or two numbers and a leading v are also accepted; exact reports whether
// the text is a complete semantic version without these deviations.
func Parse(s string) (v Version, exact, ok bool) {
	if !anyForm().MatchString(s) {
		return Version{}, false, false
	}
	exact = fullForm().MatchString(s)
	s, _, _ = strings.Cut(strings.TrimPrefix(s, "v"), "+")
	s, v.Pre, _ = strings.Cut(s, "-")
	for i, part := range strings.Split(s, ".") {
		n, _ := strconv.Atoi(part) // cannot fail: at most nine digits
		*[]*int{&v.Major, &v.Minor, &v.Patch}[i] = n
	}
	return v, exact, true
}

// Compare orders versions as semantic versioning does. It returns -1 if v comes before o, 0 if they are equal, and +1
// otherwise.
func (v Version) Compare(o Version) int { return semver.Compare(v.canonical(), o.canonical()) }

func (v Version) canonical() string {
	s := fmt.Sprintf("v%d.%d.%d", v.Major, v.Minor, v.Patch)
	if v.Pre != "" {
		s += "-" + v.Pre
	}
	return s
}

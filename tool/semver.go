package tool

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/flowrun/flowrun/internal/diagnostic"
)

// Version is a semantic version, taken apart. Build metadata is not kept: it has no
// place in the order of versions.
type Version struct {
	Major, Minor, Patch int
	Pre                 string // alpha.1 of 1.0.0-alpha.1
}

var (
	semver    = diagnostic.Pattern(`^(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})(-((0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)(\.(0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*))*))?(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$`)
	shortForm = diagnostic.Pattern(`^v?[0-9]{1,9}(\.[0-9]{1,9}){0,2}$`)
)

// ParseVersion reads a semantic version (S1-012). exact says whether it is one to the
// letter: one or two numbers, and a v before them, are understood, but are none.
func ParseVersion(s string) (v Version, exact, ok bool) {
	exact = semver().MatchString(s)
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
func (v Version) Compare(o Version) int {
	return cmp.Or(cmp.Compare(v.Major, o.Major), cmp.Compare(v.Minor, o.Minor), cmp.Compare(v.Patch, o.Patch), comparePre(v.Pre, o.Pre))
}

// comparePre orders pre-releases: none comes after all, numbers by their value and
// before words.
func comparePre(a, b string) int {
	if a == b || a == "" || b == "" {
		return cmp.Compare(len(b), len(a))
	}
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(as), len(bs)) {
		x, xNumber := numeric(as[i])
		y, yNumber := numeric(bs[i])
		switch {
		case xNumber && yNumber && x != y:
			return cmp.Compare(x, y)
		case xNumber != yNumber:
			if xNumber {
				return -1
			}
			return 1
		case as[i] != bs[i]:
			return strings.Compare(as[i], bs[i])
		}
	}
	return cmp.Compare(len(as), len(bs))
}

func numeric(s string) (uint64, bool) {
	n, err := strconv.ParseUint(s, 10, 64)
	return n, err == nil
}

package sqlstep

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/flowrun/flowrun/internal/engine/steps"
)

// ParseURL parses the address of a database. path is set for SQLite.
func ParseURL(address string) (u *url.URL, path string, err error) {
	if path, ok := strings.CutPrefix(address, "sqlite:"); ok {
		if path = strings.TrimPrefix(path, "//"); path == "" {
			return nil, "", errors.New("the url has no path; write sqlite:PATH, such as sqlite:data.db")
		}
		return nil, path, nil
	}
	u, err = url.Parse(address)
	if err != nil { // the error would show the password
		return nil, "", errors.New("the url of the database cannot be read; write postgres://USER:PASSWORD@HOST:PORT/NAME, with %40 for an @ in the password")
	}
	if u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return nil, "", fmt.Errorf("the url begins with %q; write postgres://USER:PASSWORD@HOST:PORT/NAME, or sqlite:PATH", u.Scheme)
	}
	query := u.Query()
	socket := u.Hostname() == "" && strings.HasPrefix(query.Get("host"), "/")
	for _, key := range []string{"host", "hostaddr", "port", "user", "password", "service", "servicefile", "passfile"} {
		if query.Has(key) && !(socket && (key == "host" || key == "port")) {
			return nil, "", fmt.Errorf("the url sets %s after the question mark; write it in its place: postgres://USER:PASSWORD@HOST:PORT/NAME", key)
		}
	}
	switch {
	case socket:
	case u.Hostname() == "":
		return nil, "", errors.New("the url has no host; write postgres://USER:PASSWORD@HOST:PORT/NAME, or postgres:///NAME?host=/FOLDER for a socket")
	case strings.Contains(u.Host, ","):
		return nil, "", errors.New("the url has several hosts; write one")
	}
	return u, "", nil
}

// withoutPassword hides the password of an address.
func withoutPassword(address string) string {
	u, _, err := ParseURL(address)
	if err != nil || u == nil {
		return address
	}
	password, ok := u.User.Password()
	if !ok {
		return address
	}
	return strings.Replace(u.String(), ":"+escaped(password)+"@", ":"+steps.Replacement+"@", 1)
}

// escaped returns a password as it is written in an address.
func escaped(password string) string { return url.UserPassword("", password).String()[1:] }

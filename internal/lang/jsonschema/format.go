package jsonschema

import (
	"errors"
	"net/netip"
	"net/url"
	"strings"
	"unicode/utf8"
)

// formatError returns why a text does not have a format. It returns nil if the text has it, or if the
// format is unknown.
func formatError(format, s string) error {
	switch format {
	case "date":
		return dateError(s)
	case "time":
		return timeError(s)
	case "date-time":
		return dateTimeError(s)
	case "duration":
		return durationError(s)
	case "email", "idn-email":
		return emailError(s, format == "idn-email")
	case "hostname":
		return hostnameError(s)
	case "ipv4":
		return ipError(s, netip.Addr.Is4)
	case "ipv6":
		return ipError(s, netip.Addr.Is6)
	case "uri", "iri":
		return uriError(s, true, format == "iri")
	case "uri-reference", "iri-reference":
		return uriError(s, false, format == "iri-reference")
	case "uri-template":
		return templateError(s)
	case "uuid":
		return uuidError(s)
	case "regex":
		_, err := compilePattern(s)
		return err
	case "json-pointer":
		return pointerError(s)
	case "relative-json-pointer":
		return relativePointerError(s)
	}
	return nil
}

func ipError(s string, of func(netip.Addr) bool) error {
	a, err := netip.ParseAddr(s)
	switch {
	case err != nil || !of(a):
		return errors.New("not an IP address of this kind")
	case a.Zone() != "":
		return errors.New("zones are not allowed")
	}
	return nil
}

func letter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func digit(c byte) bool  { return '0' <= c && c <= '9' }
func hex(c byte) bool    { return digit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }

// all reports whether of holds for every byte.
func all(s string, of func(byte) bool) bool {
	for i := range len(s) {
		if !of(s[i]) {
			return false
		}
	}
	return true
}

// hostnameError follows RFC 1123.
func hostnameError(s string) error {
	if len(s) > 253 {
		return errors.New("longer than 253 characters")
	}
	for label := range strings.SplitSeq(s, ".") {
		switch {
		case label == "" || len(label) > 63:
			return errors.New("each part must have 1 to 63 characters")
		case label[0] == '-' || label[len(label)-1] == '-':
			return errors.New("a part begins or ends with -")
		case len(label) > 3 && label[2:4] == "--" && !strings.EqualFold(label[:2], "xn"):
			return errors.New("a part has -- as its third and fourth characters")
		case !all(label, func(c byte) bool { return letter(c) || digit(c) || c == '-' }):
			return errors.New("only letters, digits and - are allowed between dots")
		}
	}
	return nil
}

// emailError follows RFC 5321, with the letters of RFC 6531 if international is set.
func emailError(s string, international bool) error {
	at := strings.LastIndexByte(s, '@')
	if at < 0 {
		return errors.New("it has no @")
	}
	local, domain := s[:at], s[at+1:]
	if err := localError(local, international); err != nil {
		return err
	}
	if inner, ok := strings.CutPrefix(domain, "["); ok {
		inner, ok = strings.CutSuffix(inner, "]")
		if six, is6 := strings.CutPrefix(inner, "IPv6:"); ok && is6 {
			return ipError(six, netip.Addr.Is6)
		} else if ok {
			return ipError(inner, netip.Addr.Is4)
		}
	}
	if international && !all(domain, func(c byte) bool { return c < utf8.RuneSelf }) {
		return nil
	}
	return hostnameError(domain)
}

// localError checks the part before the @.
func localError(local string, international bool) error {
	if len(local) > 1 && local[0] == '"' && local[len(local)-1] == '"' {
		return quotedError(local[1 : len(local)-1])
	}
	ok := func(c byte) bool {
		return letter(c) || digit(c) || strings.IndexByte(".!#$%&'*+-/=?^_`{|}~", c) >= 0 || international && c >= utf8.RuneSelf
	}
	switch {
	case local == "" || len(local) > 64:
		return errors.New("the part before the @ must have 1 to 64 characters")
	case local[0] == '.' || local[len(local)-1] == '.' || strings.Contains(local, ".."):
		return errors.New("the part before the @ must not begin or end with a dot or contain two in a row")
	case !all(local, ok):
		return errors.New("the part before the @ contains a character that is not allowed")
	}
	return nil
}

// quotedError checks the text between quotes before the @.
func quotedError(s string) error {
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '"', s[i] == '\\' && i+1 == len(s):
			return errors.New("inside quotes, write \\ before each quote")
		case s[i] == '\\':
			i++
		}
	}
	return nil
}

// uriError follows RFC 3986, with the letters of RFC 3987 if international is set.
func uriError(s string, absolute, international bool) error {
	ok := func(c byte) bool {
		return letter(c) || digit(c) || strings.IndexByte("-._~:/?#[]@!$&'()*+,;=%", c) >= 0 || international && c >= utf8.RuneSelf
	}
	if !all(s, ok) {
		return errors.New("it contains a character that must be percent-encoded")
	}
	u, err := url.Parse(s)
	if err != nil {
		var bad *url.Error
		if errors.As(err, &bad) {
			err = bad.Err
		}
		return err
	}
	rest := strings.TrimPrefix(s, u.Scheme+":")
	host := u.Host
	switch {
	case absolute && u.Scheme == "":
		return errors.New("it must begin with a scheme, as in https://example.com")
	case strings.Count(rest, "#") > 1 || strings.ContainsAny(strings.Replace(rest, host, "", 1), "[]"):
		return errors.New("percent-encode [, ] and a second #, as %5B, %5D and %23")
	case strings.HasPrefix(host, "["):
		return ipError(host[1:strings.IndexByte(host, ']')], netip.Addr.Is6)
	case strings.ContainsAny(host, "[]"):
		return errors.New("[ and ] are only allowed around an IPv6 address")
	case strings.Count(host, ":") > 1:
		return errors.New("write an IPv6 address between [ and ]")
	}
	return percentError(s)
}

func percentError(s string) error {
	for i := range len(s) {
		if s[i] == '%' && (i+2 >= len(s) || !hex(s[i+1]) || !hex(s[i+2])) {
			return errors.New("% must be followed by two hexadecimal digits")
		}
	}
	return nil
}

// templateError follows RFC 6570, but only checks braces and characters.
func templateError(s string) error {
	open := false
	for i := range len(s) {
		switch c := s[i]; {
		case c == '{' && open, c == '}' && !open:
			return errors.New("braces must be in pairs")
		case c == '{' || c == '}':
			open = c == '{'
		case c <= ' ' || strings.IndexByte("\"'<>\\^`", c) >= 0 && !open || c == '|' && !open || c == 0x7f:
			return errors.New("it contains a character that must be percent-encoded")
		}
	}
	if open {
		return errors.New("braces must be in pairs")
	}
	return nil
}

func uuidError(s string) error {
	groups := strings.Split(s, "-")
	for i, n := range []int{8, 4, 4, 4, 12} {
		if len(groups) != 5 || len(groups[i]) != n || !all(groups[i], hex) {
			return errors.New("it must have 8, 4, 4, 4 and 12 hexadecimal digits, separated by -")
		}
	}
	return nil
}

func pointerError(s string) error {
	if s != "" && s[0] != '/' {
		return errors.New("it must begin with /")
	}
	if strings.Contains(strings.NewReplacer("~0", "", "~1", "").Replace(s), "~") {
		return errors.New("~ must be followed by 0 or 1")
	}
	return nil
}

func relativePointerError(s string) error {
	rest := strings.TrimLeft(s, "0123456789")
	if up := s[:len(s)-len(rest)]; up == "" || len(up) > 1 && up[0] == '0' {
		return errors.New("it must begin with a number without leading zeros")
	}
	if rest == "#" {
		return nil
	}
	return pointerError(rest)
}

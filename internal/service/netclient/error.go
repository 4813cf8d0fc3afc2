package netclient

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// permanent is an error that the same request will meet again.
type permanent struct{ error }

// Unwrap returns the error itself.
func (p permanent) Unwrap() error { return p.error }

// Permanent tells a step not to retry.
func (permanent) Permanent() bool { return true }

// fetchError returns an error without the URL, which may contain a secret.
func fetchError(u *url.URL, err error) error {
	var request *url.Error
	if errors.As(err, &request) {
		err = request.Err
	}
	if at := strings.Index(err.Error(), "PermissionDenied: "); at >= 0 { // perhaps wrapped in an error of package net
		return permanent{errors.New(err.Error()[at:])}
	}
	told := fmt.Errorf("cannot fetch from %s: %w", u.Host, err)
	if isPermanent(err) {
		return permanent{told}
	}
	return told
}

// isPermanent reports whether the same request would fail in the same way: a limit was exceeded, or the two sides
// disagree about TLS.
func isPermanent(err error) bool {
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var op *net.OpError
	var marked interface{ Permanent() bool }
	switch {
	case errors.As(err, &marked):
		return marked.Permanent()
	case errors.As(err, &certificate), errors.As(err, &record), errors.Is(err, http.ErrSchemeMismatch):
		return true
	}
	return errors.As(err, &op) && (op.Op == "remote error" || op.Op == "local error") // an alert of TLS
}

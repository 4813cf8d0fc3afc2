package netclient

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"
)

// client keeps no connection open: the next request comes a second later, or never.
var client = &http.Client{Transport: &http.Transport{
	Proxy:                  http.ProxyFromEnvironment,
	DisableKeepAlives:      true,
	TLSHandshakeTimeout:    10 * time.Second,
	ForceAttemptHTTP2:      true,
	MaxResponseHeaderBytes: 64 << 10,
}}

// Status sends a GET request and returns the status code after up to ten redirects. It does
// not read the body. Errors contain only the host of the URL. Safe for concurrent use.
func Status(ctx context.Context, address string) (int, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return 0, withoutURL(err)
	}
	r.Header.Set("User-Agent", "flowrun")
	answer, err := client.Do(r)
	if err != nil {
		return 0, withoutURL(err)
	}
	answer.Body.Close()
	return answer.StatusCode, nil
}

// withoutURL returns an error without the URL, which may contain a secret.
func withoutURL(err error) error {
	var request *url.Error
	if errors.As(err, &request) {
		return request.Err
	}
	return err
}

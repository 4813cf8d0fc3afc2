package netclient

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"
)

// client keeps no connection: the next question comes a second later, or never.
var client = &http.Client{Transport: &http.Transport{
	Proxy:                  http.ProxyFromEnvironment,
	DisableKeepAlives:      true,
	TLSHandshakeTimeout:    10 * time.Second,
	ForceAttemptHTTP2:      true,
	MaxResponseHeaderBytes: 64 << 10,
}}

// Status is what an address answers to GET, after up to ten redirects. The body is not
// read. An error holds nothing of the address but its host. Safe for concurrent use.
func Status(ctx context.Context, address string) (int, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return 0, bare(err)
	}
	r.Header.Set("User-Agent", "flowrun")
	answer, err := client.Do(r)
	if err != nil {
		return 0, bare(err)
	}
	answer.Body.Close()
	return answer.StatusCode, nil
}

// bare is the error without the address, which may hold a secret.
func bare(err error) error {
	var request *url.Error
	if errors.As(err, &request) {
		return request.Err
	}
	return err
}

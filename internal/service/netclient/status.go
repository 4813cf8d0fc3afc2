package netclient

import (
	"context"
	"errors"
	"github.com/flowrun/flowrun/internal/engine/steps"
	"net/http"
	"net/url"
	"time"
)

// Status sends a GET request and returns the status code after up to ten redirects; flowrun.Config.HTTP takes it. It
// does not read the body. Errors contain only the host of the URL. Safe for concurrent use.
func Status(ctx context.Context, r steps.StatusRequest) (int, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.URL, nil)
	if err != nil {
		return 0, withoutURL(err)
	}
	request.Header.Set("User-Agent", "flowrun")
	// No connection stays open: the next request comes a second later, or never.
	t := &http.Transport{DisableKeepAlives: true, TLSHandshakeTimeout: 10 * time.Second, ForceAttemptHTTP2: true, MaxResponseHeaderBytes: 64 << 10}
	limitConnections(t, http.ProxyFromEnvironment, r.Reach)
	client := &http.Client{Transport: t, CheckRedirect: func(next *http.Request, before []*http.Request) error {
		switch {
		case len(before) >= 10:
			return errors.New("stopped after 10 redirects")
		case r.Allow == nil:
			return nil
		}
		return r.Allow(next.URL)
	}}
	answer, err := client.Do(request)
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

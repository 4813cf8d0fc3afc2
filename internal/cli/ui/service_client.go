package ui

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/lang/value"
)

// SocketPath returns the path of the socket on which the service of a state directory listens.
func SocketPath(dir string) string { return filepath.Join(dir, "service.sock") }

// ServiceRunning reports whether a service that commands can reach uses the state directory. Such a
// service continues runs that have an origin, so commands need not.
func ServiceRunning(dir string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	c, err := dialService(ctx, SocketPath(dir))
	if err == nil {
		c.Close()
	}
	return err == nil || errors.Is(err, os.ErrDeadlineExceeded)
}

// dialService connects to a service. The service must belong to this user or root, because it
// receives parameters and its answers are trusted.
func dialService(ctx context.Context, path string) (net.Conn, error) {
	c, err := new(net.Dialer).DialContext(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	uid, known, err := peerUID(c.(*net.UnixConn))
	if err == nil && known && uid != 0 && uid != os.Geteuid() {
		err = fmt.Errorf("the process that listens at %s belongs to user %d, not to you; remove the socket, or set FLOWRUN_STATE_DIR to a folder of your own", path, uid)
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// CallService sends a request to the service of this state directory and decodes the JSON response
// into into. If possible, an error has the type that the same command would return without a
// service.
func CallService(method, path string, body, into any) error {
	dir, err := StateDir()
	if err != nil {
		return err
	}
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req, err := http.NewRequest(method, "http://localhost"+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	client := http.Client{Timeout: time.Minute, Transport: &http.Transport{DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dialService(ctx, SocketPath(dir))
		}}}
	res, err := client.Do(req)
	switch {
	case errors.Is(err, os.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED):
		return ServiceErrorf("no service is running for the state directory %s; start one: flowrun serve", dir)
	case err != nil:
		return ServiceErrorf("cannot reach the service: %w", err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, 16<<20))
	if err != nil {
		return ServiceErrorf("cannot read the response of the service: %w", err)
	}
	if res.StatusCode >= 300 {
		return responseError(res.StatusCode, answer)
	}
	return json.Unmarshal(answer, into)
}

// responseError returns the error in a response. Its exit code is that of the same error without a
// service; for errors that only a service has, it depends on the status.
func responseError(status int, answer []byte) error {
	var doc struct {
		Error struct {
			Code     string
			Message  string
			Hint     string
			Problems []value.ParamProblem
		}
	}
	if err := json.Unmarshal(answer, &doc); err != nil || doc.Error.Message == "" {
		return ServiceErrorf("the service responded with status %d", status)
	}
	e := doc.Error
	if e.Code == outcome.CodeParams {
		return &value.ParamsError{Problems: e.Problems}
	}
	message := "the service reports: " + e.Message
	for _, p := range e.Problems {
		message += fmt.Sprintf("; %s: %s: %s", p.Name, p.Code, p.Message)
	}
	message += HintSuffix(e.Hint)
	exit, known := outcome.ExitOf(e.Code)
	switch {
	case !known && status == http.StatusNotFound:
		exit = outcome.ExitNotFound
	case !known && (status == http.StatusForbidden || status == http.StatusConflict):
		exit = outcome.ExitRefused
	case !known:
		exit = outcome.ExitServer
	}
	if exit == outcome.ExitRefused {
		return &RefusedError{Reason: message}
	}
	return &reportedError{message, exit}
}

// reportedError is an error that the service reported.
type reportedError struct {
	message string
	exit    int
}

func (e *reportedError) Error() string { return e.message }

func (e *reportedError) report(env *Env, err error) int {
	env.Notef("%v", err)
	return e.exit
}

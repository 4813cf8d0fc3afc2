package httpstep

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/flowrun/flowrun/internal/engine/permission"
	"github.com/flowrun/flowrun/internal/engine/savedfile"
	"github.com/flowrun/flowrun/internal/lang/expr"
)

// maxCertificate limits a file with certificates, in bytes.
const maxCertificate = 1 << 20

// open returns a function that opens a file to read, with its size.
func (x *exchange) open(t *expr.Template, sc expr.Scope) (func() (io.ReadCloser, int64, error), error) {
	root, rest, err := savedfile.Place(x.frame, t, sc, permission.Grants.Readable)
	if err != nil {
		return nil, err
	}
	return func() (io.ReadCloser, int64, error) {
		f, err := os.OpenInRoot(root, rest)
		if err != nil {
			return nil, 0, err
		}
		info, err := f.Stat()
		if err == nil && !info.Mode().IsRegular() {
			err = fmt.Errorf("%s is not a regular file", rest)
		}
		if err != nil {
			f.Close()
			return nil, 0, err
		}
		return f, info.Size(), nil
	}, nil
}

func (x *exchange) upload(sc expr.Scope) (err error) {
	if x.request.Open, err = x.open(x.File, sc); err != nil {
		return err
	}
	f, _, err := x.request.Open()
	if err != nil {
		return fmt.Errorf("cannot read the body of the request: %w", err)
	}
	x.header("Content-Type", "application/octet-stream")
	return f.Close()
}

func (x *exchange) certificates(sc expr.Scope) error {
	for _, one := range []struct {
		t  *expr.Template
		to *[]byte
	}{{x.CA, &x.request.CA}, {x.Cert, &x.request.Cert}, {x.Key, &x.request.Key}} {
		if one.t == nil {
			continue
		}
		open, err := x.open(one.t, sc)
		if err != nil {
			return err
		}
		f, _, err := open()
		if err != nil {
			return fmt.Errorf("cannot read a certificate: %w", err)
		}
		*one.to, err = io.ReadAll(io.LimitReader(f, maxCertificate))
		if err := errors.Join(err, f.Close()); err != nil {
			return fmt.Errorf("cannot read a certificate: %w", err)
		}
	}
	return nil
}

// save makes the file of save-as, before the request is sent. It gets the response if its status is an expected one.
func (x *exchange) save(sc expr.Scope) (err error) {
	if x.SaveAs == nil {
		return nil
	}
	if x.saved, err = savedfile.Create(x.frame, x.step, x.SaveAs, sc, "the response"); err != nil {
		return err
	}
	x.request.Save = func(status int) io.Writer {
		if x.keeps = x.expects(status); !x.keeps {
			return nil
		}
		return x.saved
	}
	return nil
}

// publish keeps the saved response, if there is one.
func (x *exchange) publish() error {
	if x.keeps {
		return x.saved.Publish()
	}
	x.saved.Discard()
	return nil
}

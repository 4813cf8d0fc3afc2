package datastore

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/flowrun/flowrun/internal/test/needtest"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

// s3Server starts a server of the protocol with an empty bucket "values", and returns its address.
func s3Server(t *testing.T, args ...string) (address string) {
	program := needtest.Program(t, "versitygw")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address = l.Addr().String()
	l.Close()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "data", "values"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "a secret")
	t.Setenv("AWS_REGION", "us-east-1")
	args = append([]string{"--port", address, "--access", "key", "--secret", "a secret", "--quiet"}, args...)
	args = append(args, "posix", "--sidecar", filepath.Join(dir, "meta"), filepath.Join(dir, "data"))
	if err := os.Mkdir(filepath.Join(dir, "meta"), 0o755); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	c := exec.Command(program, args...)
	c.Stdout, c.Stderr = &log, &log
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Process.Kill()
		c.Wait()
		if t.Failed() {
			t.Logf("versitygw: %s", log.String())
		}
	})
	waittest.Until(t, "the S3 server", func() bool {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conn.Close()
		}
		return err == nil
	}, func() any { return "" })
	return address
}

func openAt(t *testing.T, location string) Store {
	t.Helper()
	s, err := Open(t.Context(), location)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestBucket(t *testing.T) {
	address := s3Server(t)
	contract(t, openAt(t, "s3://values/some/prefix?path-style=true&endpoint=http://"+address))

	other := openAt(t, "s3://nowhere?endpoint=http://"+address)
	if err := other.Put(t.Context(), Digest([]byte("x")), strings.NewReader("x"), 1); err == nil || !strings.Contains(err.Error(), "store s3://nowhere: ") {
		t.Errorf("a bucket that does not exist: %v", err)
	}
	t.Setenv("AWS_SECRET_ACCESS_KEY", "another secret")
	wrong := openAt(t, "s3://values?endpoint=http://"+address)
	if err := wrong.Put(t.Context(), Digest([]byte("x")), strings.NewReader("x"), 1); err == nil || !strings.Contains(err.Error(), "store s3://values: ") || strings.Contains(err.Error(), "secret") {
		t.Errorf("wrong credentials: %v", err)
	}
}

// TestBucketTLS: the certificate of the server is checked.
func TestBucketTLS(t *testing.T) {
	cert, key := certificate(t)
	address := s3Server(t, "--cert", cert, "--key", key)
	location := "s3://values?endpoint=https://" + address
	value := []byte("value")
	if err := openAt(t, location).Put(t.Context(), Digest(value), bytes.NewReader(value), 5); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("a certificate that nobody signed: %v", err)
	}
	t.Setenv("SSL_CERT_FILE", cert)
	s := openAt(t, location)
	if err := s.Put(t.Context(), Digest(value), bytes.NewReader(value), 5); err != nil {
		t.Fatal(err)
	}
	if got := get(t, s, Digest(value), 0, -1); got != "value" {
		t.Errorf("%q", got)
	}
}

// TestBucketRetries: requests that fail for a moment are retried, and a read continues where its
// connection broke.
func TestBucketRetries(t *testing.T) {
	address := s3Server(t)
	target := &url.URL{Scheme: "http", Host: address}
	var refused, broken atomic.Int32
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut && refused.Add(1) <= 2 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		(&httputil.ReverseProxy{
			Rewrite: func(p *httputil.ProxyRequest) { p.SetURL(target); p.Out.Host = p.In.Host },
			ModifyResponse: func(res *http.Response) error {
				if r.Method == http.MethodGet && broken.Add(1) <= 3 {
					res.Body = readCloser{io.MultiReader(io.LimitReader(res.Body, 100_000), brokenPipe{}), res.Body}
				}
				return nil
			},
			ErrorLog: nil,
		}).ServeHTTP(w, r)
	}))
	defer proxy.Close()
	value := make([]byte, 1<<20)
	rand.Read(value)
	s := openAt(t, "s3://values?endpoint="+proxy.URL)
	if err := s.Put(t.Context(), Digest(value), io.MultiReader(bytes.NewReader(value)), 1<<20); err != nil {
		t.Fatal(err)
	}
	if got := get(t, s, Digest(value), 0, -1); got != string(value) {
		t.Error("the value has changed")
	}
	if refused.Load() != 3 || broken.Load() != 4 {
		t.Errorf("%d requests to put and %d to get; want 3 and 4", refused.Load(), broken.Load())
	}
}

type brokenPipe struct{}

func (brokenPipe) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// certificate writes a certificate for 127.0.0.1 and its key.
func certificate(t *testing.T) (cert, key string) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for file, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: raw}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

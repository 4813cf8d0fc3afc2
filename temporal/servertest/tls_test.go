package servertest

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
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
	"testing"
	"time"
)

// TestSecuredConnection: commands reach a service by TLS only with a certificate that it knows, and with the API key.
func TestSecuredConnection(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	own, other := newAuthority(t), newAuthority(t)
	gate := startGate(t, s.address, own, "secret-key")
	settings := map[string]string{
		"TEMPORAL_ADDRESS": gate, "TEMPORAL_API_KEY": "secret-key", "TEMPORAL_TLS": "true", "TEMPORAL_TLS_SERVER_CA_CERT_PATH": own.file,
		"TEMPORAL_TLS_CLIENT_CERT_PATH": own.client, "TEMPORAL_TLS_CLIENT_KEY_PATH": own.clientKey, "TEMPORAL_TLS_SERVER_NAME": "temporal.test",
	}
	// In TLS 1.3 the client has finished its handshake before the service checks its certificate. What it then
	// writes can fail before it reads why it was refused, so the reason is "certificate required" or "broken pipe".
	const refused = "cannot reach the Temporal service"
	for _, c := range []struct {
		name   string
		change map[string]string
		error  string // "" if it works
	}{
		{"all", nil, ""},
		{"no client certificate", map[string]string{"TEMPORAL_TLS_CLIENT_CERT_PATH": "", "TEMPORAL_TLS_CLIENT_KEY_PATH": ""}, refused},
		{"an unknown client certificate", map[string]string{"TEMPORAL_TLS_CLIENT_CERT_PATH": other.client, "TEMPORAL_TLS_CLIENT_KEY_PATH": other.clientKey}, refused},
		{"an unknown service", map[string]string{"TEMPORAL_TLS_SERVER_CA_CERT_PATH": other.file}, "unknown authority"},
		{"another service", map[string]string{"TEMPORAL_TLS_SERVER_NAME": "other.test"}, "other.test"},
		{"another API key", map[string]string{"TEMPORAL_API_KEY": "wrong"}, "401"},
		{"no TLS", map[string]string{"TEMPORAL_TLS": "false", "TEMPORAL_API_KEY": ""}, "cannot reach"},
		{"no such file", map[string]string{"TEMPORAL_TLS_SERVER_CA_CERT_PATH": "/nowhere"}, "/nowhere"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), program(t, "..", "cmd/flowrun-temporal"), "runs")
			cmd.Env = append(os.Environ(), "FLOWRUN_STATE_DIR="+t.TempDir())
			for name, value := range settings {
				if changed, ok := c.change[name]; ok {
					value = changed
				}
				if value != "" {
					cmd.Env = append(cmd.Env, name+"="+value)
				}
			}
			text, err := cmd.CombinedOutput()
			if (err == nil) != (c.error == "") || !strings.Contains(string(text), c.error) {
				t.Errorf("%v: %s, want %q", err, text, c.error)
			}
			if strings.Contains(string(text), "secret-key") {
				t.Errorf("the message contains the API key: %s", text)
			}
		})
	}
}

// authority issues certificates.
type authority struct {
	file              string // its certificate
	client, clientKey string // files of a certificate that it has issued
	pool              *x509.CertPool
	server            tls.Certificate
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	dir := t.TempDir()
	a := &authority{file: filepath.Join(dir, "ca.pem"), client: filepath.Join(dir, "client.pem"), clientKey: filepath.Join(dir, "client.key"), pool: x509.NewCertPool()}
	root := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	rootKey := newKey(t)
	rootPEM, _ := issue(t, root, root, rootKey, rootKey)
	a.pool.AppendCertsFromPEM(rootPEM)
	write(t, a.file, rootPEM)
	leaf := &x509.Certificate{SerialNumber: big.NewInt(2), NotAfter: root.NotAfter, DNSNames: []string{"temporal.test"}}
	key := newKey(t)
	cert, keyPEM := issue(t, leaf, root, key, rootKey)
	write(t, a.client, cert)
	write(t, a.clientKey, keyPEM)
	var err error
	if a.server, err = tls.X509KeyPair(cert, keyPEM); err != nil {
		t.Fatal(err)
	}
	return a
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// issue returns a certificate for a key, and the key, as PEM.
func issue(t *testing.T, what, issuer *x509.Certificate, key, issuerKey *ecdsa.PrivateKey) (cert, private []byte) {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, what, issuer, &key.PublicKey, issuerKey)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER})
}

func write(t *testing.T, file string, content []byte) {
	t.Helper()
	if err := os.WriteFile(file, bytes.Clone(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// startGate starts a TLS server that lets only clients with a certificate of an authority and an API key pass on to a
// Temporal server. It returns its address.
func startGate(t *testing.T, to string, a *authority, key string) string {
	t.Helper()
	plain := new(http.Protocols)
	plain.SetUnencryptedHTTP2(true)
	pass := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: to})
	pass.Transport, pass.FlushInterval = &http.Transport{Protocols: plain}, -1
	gate := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+key {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		pass.ServeHTTP(w, r)
	}))
	gate.TLS = &tls.Config{Certificates: []tls.Certificate{a.server}, ClientCAs: a.pool, ClientAuth: tls.RequireAndVerifyClientCert, NextProtos: []string{"h2"}}
	gate.EnableHTTP2, gate.Config.ErrorLog = true, log.New(io.Discard, "", 0)
	gate.StartTLS()
	t.Cleanup(gate.Close)
	return net.JoinHostPort("127.0.0.1", strings.TrimPrefix(gate.URL[strings.LastIndex(gate.URL, ":"):], ":"))
}

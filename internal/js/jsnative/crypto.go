package jsnative

import (
	"crypto/hmac"
	"crypto/md5"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha3"
	"crypto/sha512"
	"crypto/subtle"
	"fmt"
	"hash"
	"strings"
)

// maxRandom limits the random bytes of one call.
const maxRandom = 16 << 20

// Random returns n random bytes.
func Random(n int) ([]byte, error) {
	if n < 0 || n > maxRandom {
		return nil, fmt.Errorf("cannot return %d random bytes: the limit is %d", n, maxRandom)
	}
	b := make([]byte, n)
	rand.Read(b) // never fails
	return b, nil
}

// digests are the supported algorithms by their names in Node.js, without hyphens after SHA.
var digests = map[string]func() hash.Hash{
	"md5": md5.New, "sha1": sha1.New, "sha224": sha256.New224, "sha256": sha256.New, "sha384": sha512.New384, "sha512": sha512.New,
	"sha512-256": sha512.New512_256,
	"sha3-256":   func() hash.Hash { return sha3.New256() }, "sha3-384": func() hash.Hash { return sha3.New384() }, "sha3-512": func() hash.Hash { return sha3.New512() },
}

// findDigest returns an algorithm by its name in any notation: sha256, SHA-256, RSA-SHA256.
func findDigest(name string) (func() hash.Hash, bool) {
	name = strings.TrimPrefix(strings.ToLower(name), "rsa-")
	if rest, ok := strings.CutPrefix(name, "sha-"); ok {
		name = "sha" + rest
	}
	f, ok := digests[strings.ReplaceAll(name, "/", "-")]
	return f, ok
}

// HasDigest reports whether an algorithm is supported.
func HasDigest(name string) bool {
	_, ok := findDigest(name)
	return ok
}

// Digest returns the digest of data. The algorithm must be supported.
func Digest(name string, data []byte) []byte {
	f, _ := findDigest(name)
	h := f()
	h.Write(data)
	return h.Sum(nil)
}

// HMAC returns the keyed digest of data. The algorithm must be supported.
func HMAC(name string, key, data []byte) []byte {
	f, _ := findDigest(name)
	h := hmac.New(f, key)
	h.Write(data)
	return h.Sum(nil)
}

// Equal compares two values of equal length in constant time.
func Equal(a, b []byte) bool { return subtle.ConstantTimeCompare(a, b) == 1 }

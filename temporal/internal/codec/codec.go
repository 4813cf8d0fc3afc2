// Package codec encrypts what flowrun gives to Temporal: parameters, results, events.
//
// Each payload is encrypted by AES-256-GCM with a random nonce. The keys are in a file, one in a line:
// a name and 32 bytes in base64. The first encrypts; all decrypt, so a new key is put first and the old
// one stays until no workflow needs it.
//
// A payload that is not encrypted is refused. Therefore only programs with a key can make workers run
// anything, and not everybody who can reach the Temporal service.
package codec

import (
	"bufio"
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"fmt"
	"os"
	"runtime"
	"strings"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"
)

// Converter returns the converter of a Temporal client that encrypts with the keys in a file. Without a
// file it returns the default converter, which does not encrypt.
func Converter(file string) (converter.DataConverter, error) {
	if file == "" {
		return converter.GetDefaultDataConverter(), nil
	}
	c, err := open(file)
	if err != nil {
		return nil, fmt.Errorf("cannot read the encryption keys: %w", err)
	}
	return converter.NewCodecDataConverter(converter.GetDefaultDataConverter(), c), nil
}

// Metadata of encrypted payloads, as other codecs for Temporal name it. They are in histories, so they
// never change.
const (
	encoding  = "binary/encrypted"
	keyName   = "encryption-key-id"
	keyLength = 32
)

// codec implements converter.PayloadCodec.
type codec struct {
	first string
	keys  map[string]cipher.AEAD
}

func open(file string) (*codec, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%s can be read by others (mode %04o); to protect it: chmod 600 %s", file, info.Mode().Perm(), file)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	c, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return c, nil
}

// parse reads the keys. Its errors do not contain the text, which may be a key.
func parse(text []byte) (*codec, error) {
	c := &codec{keys: map[string]cipher.AEAD{}}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		words := strings.Fields(lines.Text())
		if len(words) == 0 || words[0][0] == '#' {
			continue
		}
		if len(words) != 2 {
			return nil, fmt.Errorf("line %d: expected NAME KEY", n)
		}
		name := words[0]
		key, err := base64.StdEncoding.DecodeString(words[1])
		if err != nil || len(key) != keyLength {
			return nil, fmt.Errorf("line %d: the key %s is not 32 bytes in base64", n, name)
		}
		if c.keys[name] != nil {
			return nil, fmt.Errorf("line %d: there is another key %s", n, name)
		}
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, err
		}
		if c.keys[name], err = cipher.NewGCMWithRandomNonce(block); err != nil {
			return nil, err
		}
		if c.first == "" {
			c.first = name
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if c.first == "" {
		return nil, fmt.Errorf("there is no key; write NAME and 32 bytes in base64")
	}
	return c, nil
}

// Encode encrypts payloads.
func (c *codec) Encode(list []*commonpb.Payload) ([]*commonpb.Payload, error) {
	out := make([]*commonpb.Payload, len(list))
	for i, p := range list {
		plain, err := proto.Marshal(p)
		if err != nil {
			return nil, err
		}
		out[i] = &commonpb.Payload{
			Metadata: map[string][]byte{converter.MetadataEncoding: []byte(encoding), keyName: []byte(c.first)},
			Data:     c.keys[c.first].Seal(nil, nil, plain, []byte(c.first)),
		}
	}
	return out, nil
}

// Decode decrypts payloads.
func (c *codec) Decode(list []*commonpb.Payload) ([]*commonpb.Payload, error) {
	out := make([]*commonpb.Payload, len(list))
	for i, p := range list {
		if got := p.GetMetadata()[converter.MetadataEncoding]; string(got) != encoding {
			return nil, fmt.Errorf("the payload is not encrypted (%q); every program on this namespace needs the key file", got)
		}
		name := string(p.Metadata[keyName])
		key := c.keys[name]
		if key == nil {
			return nil, fmt.Errorf("the payload is encrypted with the key %q, which the key file does not have", name)
		}
		plain, err := key.Open(nil, nil, p.Data, []byte(name))
		if err != nil {
			return nil, fmt.Errorf("cannot decrypt the payload with the key %q: it was changed, or the key is another one", name)
		}
		out[i] = &commonpb.Payload{}
		if err := proto.Unmarshal(plain, out[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

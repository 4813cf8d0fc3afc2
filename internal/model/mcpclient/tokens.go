package mcpclient

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path/filepath"

	"golang.org/x/oauth2"

	"github.com/flowrun/flowrun/internal/os/atomicfile"
	"github.com/flowrun/flowrun/internal/os/ownership"
)

// tokens is the file with the token for a server.
type tokens struct {
	file  string
	oauth OAuth
}

// stored is the content of that file.
type stored struct {
	Server       string           `json:"server"` // URL
	ClientID     string           `json:"clientId"`
	ClientSecret string           `json:"clientSecret,omitempty"` // if flowrun registered itself
	TokenURL     string           `json:"tokenUrl"`
	AuthStyle    oauth2.AuthStyle `json:"authStyle"`
	Scopes       []string         `json:"scopes,omitempty"` // to ask for at the next sign-in
	Token        *oauth2.Token    `json:"token"`
}

// tokens returns the file for a server. The URL is part of its name, with the variables in it replaced,
// so no other address gets the token.
func (r *remote) tokens(c ServerConfig) tokens {
	text, err := json.Marshal([]any{c.Owner, c.Name, c.HTTPURL})
	if err != nil {
		text = []byte(c.HTTPURL) // cannot happen: these are texts
	}
	sum := sha256.Sum256(text)
	return tokens{filepath.Join(r.client.config.StateDir, "mcp", hex.EncodeToString(sum[:16])+".token.json"), c.OAuth}
}

// read returns what is stored; without a file, nothing is.
func (t tokens) read() (in stored, err error) {
	text, err := ownership.ReadFile(t.file)
	if errors.Is(err, fs.ErrNotExist) {
		return in, nil
	}
	if err != nil {
		return in, err
	}
	return t.decode(text)
}

func (t tokens) decode(text []byte) (in stored, err error) {
	if text == nil {
		return in, nil
	}
	if err := json.Unmarshal(text, &in); err != nil {
		return in, fmt.Errorf("cannot read %s: it is not valid JSON; remove it", t.file)
	}
	return in, nil
}

// update changes what is stored, one process at a time.
func (t tokens) update(change func(*stored) error) error {
	if err := ownership.CheckFile(t.file); err != nil {
		return err
	}
	return atomicfile.Update(t.file, func(was []byte) ([]byte, error) {
		in, err := t.decode(was)
		if err != nil {
			return nil, err
		}
		if err := change(&in); err != nil {
			return nil, err
		}
		text, err := json.Marshal(in)
		return append(text, '\n'), err
	})
}

// save stores a new token. A secret that the settings have is not stored.
func (t tokens) save(server string, c *oauth2.Config, token *oauth2.Token) error {
	return t.update(func(in *stored) error {
		*in = stored{Server: server, ClientID: c.ClientID, TokenURL: c.Endpoint.TokenURL, AuthStyle: c.Endpoint.AuthStyle, Scopes: c.Scopes, Token: token}
		if c.ClientID != t.oauth.ClientID {
			in.ClientSecret = c.ClientSecret
		}
		return nil
	})
}

// want stores which scopes to ask for at the next sign-in.
func (t tokens) want(scopes []string) error {
	return t.update(func(in *stored) error {
		in.Scopes = union(in.Scopes, scopes)
		return nil
	})
}

// renew returns a token in place of one that is used up. It returns nil if only a person can get one.
// Many authorization servers accept a refresh token only once, so one process renews it and the
// others use the result.
func (t tokens) renew(client *http.Client, used string) (token *oauth2.Token, err error) {
	in, err := t.read()
	if err != nil || in.Token == nil || in.Token.RefreshToken == "" && in.Token.AccessToken == used {
		return nil, err
	}
	err = t.update(func(in *stored) error {
		if token = in.Token; token == nil || token.AccessToken != used && token.Valid() {
			return nil
		}
		c := oauth2.Config{ClientID: in.ClientID, ClientSecret: in.ClientSecret, Endpoint: oauth2.Endpoint{TokenURL: in.TokenURL, AuthStyle: in.AuthStyle}}
		if in.ClientID == t.oauth.ClientID {
			c.ClientSecret = t.oauth.ClientSecret
		}
		ctx := context.WithValue(context.Background(), oauth2.HTTPClient, client)
		token, err = c.TokenSource(ctx, &oauth2.Token{RefreshToken: token.RefreshToken}).Token()
		in.Token = token
		return err
	})
	return token, err
}

// remove removes the file. It reports whether there was a token.
func (t tokens) remove() (bool, error) {
	in, err := t.read()
	if err == nil && in.Token == nil {
		return false, nil
	}
	if err := atomicfile.Remove(t.file); err != nil {
		return false, err
	}
	return true, nil
}

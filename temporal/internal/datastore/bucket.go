package datastore

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// bucket is a Store in a bucket of an S3-compatible service. The client tries requests again that fail
// for a moment.
type bucket struct {
	client       minio.Core
	name, prefix string
}

func (b *bucket) String() string { return "s3://" + path.Join(b.name, b.prefix) }

// openBucket opens s3://bucket/prefix. Credentials come from the environment only, because the URL is
// visible in the process list.
func openBucket(u *url.URL) (*bucket, error) {
	fail := func(format string, args ...any) (*bucket, error) {
		return nil, fmt.Errorf("cannot open the store s3://%s: "+format, append([]any{u.Host}, args...)...)
	}
	q := u.Query()
	for key := range q {
		if key != "endpoint" && key != "region" && key != "path-style" {
			return fail("unknown option %q; use endpoint, region or path-style", key)
		}
	}
	key, secret := os.Getenv("AWS_ACCESS_KEY_ID"), os.Getenv("AWS_SECRET_ACCESS_KEY")
	if u.User != nil || key == "" || secret == "" {
		return fail("set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment, and AWS_SESSION_TOKEN if you have one")
	}
	endpoint, err := url.Parse(cmp.Or(q.Get("endpoint"), os.Getenv("AWS_ENDPOINT_URL_S3"), "https://s3.amazonaws.com"))
	if err != nil || endpoint.Host == "" || strings.Trim(endpoint.Path, "/") != "" || endpoint.Scheme != "http" && endpoint.Scheme != "https" {
		return fail("the endpoint must be https://HOST or http://HOST:PORT")
	}
	lookup, ok := map[string]minio.BucketLookupType{"": minio.BucketLookupAuto, "true": minio.BucketLookupPath, "false": minio.BucketLookupDNS}[q.Get("path-style")]
	if !ok {
		return fail("path-style must be true or false")
	}
	transport, err := minio.DefaultTransport(endpoint.Scheme == "https")
	if err != nil {
		return fail("%w", err)
	}
	client, err := minio.New(endpoint.Host, &minio.Options{
		Creds:  credentials.NewStaticV4(key, secret, os.Getenv("AWS_SESSION_TOKEN")),
		Secure: endpoint.Scheme == "https", Transport: transport, BucketLookup: lookup,
		Region: cmp.Or(q.Get("region"), os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION")),
	})
	if err != nil {
		return fail("%w", err)
	}
	return &bucket{minio.Core{Client: client}, u.Host, strings.Trim(u.Path, "/")}, nil
}

func (b *bucket) key(digest string) (string, error) {
	dir, name, err := split(digest)
	return path.Join(b.prefix, dir, name), err
}

// Put implements Store.
func (b *bucket) Put(ctx context.Context, digest string, r io.Reader, size int64) error {
	key, err := b.key(digest)
	if err != nil {
		return err
	}
	info, err := b.client.StatObject(ctx, b.name, key, minio.StatObjectOptions{})
	if err == nil && info.Size == size && time.Since(info.LastModified) < RenewAfter {
		return nil
	}
	if err != nil && !isMissing(err) {
		return b.fail(err)
	}
	content, done, err := spool(ctx, r, digest, size)
	if err != nil {
		return err
	}
	defer done()
	_, err = b.client.Client.PutObject(ctx, b.name, key, content, size, minio.PutObjectOptions{ContentType: "application/octet-stream"})
	return b.fail(err)
}

// spool returns the content as a file, once it has been checked: only what can be read again can be
// sent again.
func spool(ctx context.Context, r io.Reader, digest string, size int64) (content io.ReadSeeker, done func(), err error) {
	if again, ok := r.(io.ReadSeeker); ok {
		if _, err := io.Copy(io.Discard, checked(untilDone{ctx, again}, digest, size)); err != nil {
			return nil, nil, err
		}
		_, err := again.Seek(-size, io.SeekCurrent)
		return again, func() {}, err
	}
	file, err := os.CreateTemp("", "flowrun-put-")
	if err != nil {
		return nil, nil, err
	}
	done = func() { file.Close(); os.Remove(file.Name()) }
	if _, err = io.Copy(file, checked(untilDone{ctx, r}, digest, size)); err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err != nil {
		done()
		return nil, nil, err
	}
	return file, done, nil
}

// Get implements Store.
func (b *bucket) Get(ctx context.Context, digest string, offset, n int64) (io.ReadCloser, error) {
	key, err := b.key(digest)
	if err != nil {
		return nil, err
	}
	o := &object{ctx: ctx, bucket: b, key: key, next: offset, end: -1}
	if n >= 0 {
		o.end = offset + n
	}
	if n == 0 { // a range of HTTP has at least one byte
		_, err = b.Size(ctx, digest)
	} else {
		err = o.open()
	}
	if err != nil {
		return nil, err
	}
	if offset == 0 && n < 0 {
		return readCloser{checked(o, digest, o.end), o}, nil
	}
	return o, nil
}

// Size implements Store.
func (b *bucket) Size(ctx context.Context, digest string) (int64, error) {
	key, err := b.key(digest)
	if err != nil {
		return 0, err
	}
	info, err := b.client.StatObject(ctx, b.name, key, minio.StatObjectOptions{})
	return info.Size, b.fail(err)
}

func isMissing(err error) bool { return minio.ToErrorResponse(err).Code == minio.NoSuchKey }

// fail names the bucket in an error of the client.
func (b *bucket) fail(err error) error {
	switch {
	case err == nil:
		return nil
	case isMissing(err):
		return ErrMissing
	}
	return fmt.Errorf("store s3://%s: %w", b.name, err)
}

// maxReopens is how often in a row a reader opens an object again when its connection breaks.
const maxReopens = 5

// object reads an object from next up to end. When the connection breaks, it continues where it was.
type object struct {
	ctx       context.Context
	bucket    *bucket
	key       string
	next, end int64 // end is -1 until the size is known
	body      io.ReadCloser
	reopens   int
}

func (o *object) open() error {
	options := minio.GetObjectOptions{}
	if o.next > 0 || o.end >= 0 {
		if err := options.SetRange(o.next, max(o.end-1, 0)); err != nil {
			return err
		}
	}
	body, info, _, err := o.bucket.client.GetObject(o.ctx, o.bucket.name, o.key, options)
	if minio.ToErrorResponse(err).StatusCode == http.StatusRequestedRangeNotSatisfiable {
		o.end = o.next // the value is shorter
		return nil
	}
	if err != nil {
		return o.bucket.fail(err)
	}
	o.body, o.end = body, o.next+info.Size
	return nil
}

// Read implements io.Reader.
func (o *object) Read(p []byte) (int, error) {
	for o.body != nil && o.next < o.end {
		n, err := o.body.Read(p)
		o.next += int64(n)
		if n > 0 {
			o.reopens = 0
			return n, nil
		}
		if err == nil {
			continue
		}
		if o.ctx.Err() != nil || o.reopens == maxReopens {
			return 0, o.bucket.fail(cmp.Or(o.ctx.Err(), err))
		}
		o.reopens++
		o.body.Close()
		if err := o.open(); err != nil {
			return 0, err
		}
	}
	return 0, io.EOF
}

// Close implements io.Closer.
func (o *object) Close() error {
	if o.body == nil {
		return nil
	}
	return o.body.Close()
}

package datastore

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"
)

// InlineLimit is the size up to which a payload is kept in the history of a workflow.
const InlineLimit = 32 << 10

// External returns the setting of a Temporal client that keeps payloads above InlineLimit in a store.
// The history has the digest. unreadable gets the error of each payload that cannot be read, which the service also gets, but
// only shows to those who ask; it may be nil.
func External(s Store, unreadable func(error)) converter.ExternalStorage {
	return converter.ExternalStorage{Drivers: []converter.StorageDriver{payloads{s, unreadable}}, PayloadSizeThreshold: InlineLimit}
}

// payloads is a driver of the SDK. Its name and the key of its claims are in histories, so they never
// change.
type payloads struct {
	store      Store
	unreadable func(error)
}

const claimDigest = "digest"

func (payloads) Name() string { return "flowrun" }
func (payloads) Type() string { return "flowrun" }

// Store puts payloads into the store.
func (p payloads) Store(ctx converter.StorageDriverStoreContext, list []*commonpb.Payload) ([]converter.StorageDriverClaim, error) {
	claims := make([]converter.StorageDriverClaim, len(list))
	for i, payload := range list {
		value, err := proto.MarshalOptions{Deterministic: true}.Marshal(payload)
		if err != nil {
			return nil, err
		}
		digest := Digest(value)
		if err := p.store.Put(ctx.Context, digest, bytes.NewReader(value), int64(len(value))); err != nil {
			return nil, err
		}
		claims[i] = converter.StorageDriverClaim{ClaimData: map[string]string{claimDigest: digest}}
	}
	return claims, nil
}

// Retrieve gets payloads from the store. They count as used: a Schedule has its input once for all runs.
func (p payloads) Retrieve(ctx converter.StorageDriverRetrieveContext, claims []converter.StorageDriverClaim) (list []*commonpb.Payload, err error) {
	defer func() {
		if err != nil && p.unreadable != nil {
			p.unreadable(err)
		}
	}()
	list = make([]*commonpb.Payload, len(claims))
	for i, claim := range claims {
		r, err := p.store.Get(ctx.Context, claim.ClaimData[claimDigest], 0, -1)
		if errors.Is(err, ErrMissing) {
			return nil, fmt.Errorf("cannot read value %.12s: it is not in the store %s; who started the run and all workers need the same --store", claim.ClaimData[claimDigest], p.store)
		}
		if err != nil {
			return nil, fmt.Errorf("cannot read value %.12s of the store %s: %w", claim.ClaimData[claimDigest], p.store, err)
		}
		value, err := io.ReadAll(r)
		r.Close()
		if err != nil {
			return nil, err
		}
		if err := p.store.Put(ctx.Context, claim.ClaimData[claimDigest], bytes.NewReader(value), int64(len(value))); err != nil {
			return nil, err
		}
		list[i] = &commonpb.Payload{}
		if err := proto.Unmarshal(value, list[i]); err != nil {
			return nil, err
		}
	}
	return list, nil
}

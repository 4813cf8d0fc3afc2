package datastore

import (
	"context"
	"fmt"

	commonpb "go.temporal.io/api/common/v1"
	sdkpb "go.temporal.io/api/sdk/v1"
	"go.temporal.io/sdk/converter"
)

// Reading returns a converter that reads payloads of a history, where a reference stands for those in
// the store. The SDK replaces references in what it receives itself, but not in histories.
func Reading(c converter.DataConverter, s Store) converter.DataConverter {
	return reading{c, payloads{s, nil}}
}

type reading struct {
	converter.DataConverter
	payloads payloads
}

// FromPayloads reads several payloads.
func (r reading) FromPayloads(list *commonpb.Payloads, to ...any) error {
	resolved := &commonpb.Payloads{}
	for _, p := range list.GetPayloads() {
		p, err := r.resolve(p)
		if err != nil {
			return err
		}
		resolved.Payloads = append(resolved.Payloads, p)
	}
	return r.DataConverter.FromPayloads(resolved, to...)
}

// FromPayload reads one payload.
func (r reading) FromPayload(p *commonpb.Payload, to any) error {
	p, err := r.resolve(p)
	if err != nil {
		return err
	}
	return r.DataConverter.FromPayload(p, to)
}

// resolve returns the payload that a reference stands for.
func (r reading) resolve(p *commonpb.Payload) (*commonpb.Payload, error) {
	var ref sdkpb.ExternalStorageReference
	if string(p.GetMetadata()[converter.MetadataMessageType]) != string(ref.ProtoReflect().Descriptor().FullName()) {
		return p, nil
	}
	if err := converter.GetDefaultDataConverter().FromPayload(p, &ref); err != nil {
		return nil, err
	}
	list, err := r.payloads.Retrieve(converter.StorageDriverRetrieveContext{Context: context.Background()}, []converter.StorageDriverClaim{{ClaimData: ref.GetClaimData()}})
	if err != nil {
		return nil, fmt.Errorf("cannot read from the store: %w", err)
	}
	return list[0], nil
}

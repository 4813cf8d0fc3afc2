package datastore

import (
	"testing"

	commonpb "go.temporal.io/api/common/v1"
	sdkpb "go.temporal.io/api/sdk/v1"
	"go.temporal.io/sdk/converter"
)

func TestReading(t *testing.T) {
	store, err := Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c := converter.GetDefaultDataConverter()
	text, err := c.ToPayload("hello")
	if err != nil {
		t.Fatal(err)
	}
	claims, err := payloads{store, nil}.Store(converter.StorageDriverStoreContext{Context: t.Context()}, []*commonpb.Payload{text})
	if err != nil {
		t.Fatal(err)
	}
	reference, err := c.ToPayload(&sdkpb.ExternalStorageReference{DriverName: "flowrun", ClaimData: claims[0].ClaimData})
	if err != nil {
		t.Fatal(err)
	}
	var stored, inline string
	if err := Reading(c, store).FromPayloads(&commonpb.Payloads{Payloads: []*commonpb.Payload{reference, text}}, &stored, &inline); err != nil || stored != "hello" || inline != "hello" {
		t.Errorf("%q %q %v", stored, inline, err)
	}
}

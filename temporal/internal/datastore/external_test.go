package datastore

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/testing/protocmp"
)

func TestExternal(t *testing.T) {
	s, err := openFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	driver := External(s, nil).Drivers[0]
	list := []*commonpb.Payload{
		{Metadata: map[string][]byte{"encoding": []byte("json/plain"), "other": nil}, Data: []byte(`"one"`)},
		{Data: []byte("two")},
		{},
	}
	claims, err := driver.Store(converter.StorageDriverStoreContext{Context: t.Context()}, list)
	if err != nil {
		t.Fatal(err)
	}
	got, err := driver.Retrieve(converter.StorageDriverRetrieveContext{Context: t.Context()}, claims)
	if diff := cmp.Diff(list, got, protocmp.Transform()); diff != "" || err != nil {
		t.Errorf("-want +got:\n%s%v", diff, err)
	}
	claims[1].ClaimData[claimDigest] = Digest([]byte("three"))
	if _, err := driver.Retrieve(converter.StorageDriverRetrieveContext{Context: t.Context()}, claims); err == nil {
		t.Error("a payload that is not there")
	}
}

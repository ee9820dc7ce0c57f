package partnerapi_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/middleware/jsonresponse"
	"partnerdeposits/adapters/http/partnerapi"
	"partnerdeposits/core/money"
)

// responses are the bodies of all responses of the partner API.
var responses = []any{
	partnerapi.APIKeyList{}, partnerapi.CreatedAPIKeyResponse{}, partnerapi.AccountList{}, partnerapi.AccountResponse{},
	partnerapi.ClientResponse{}, partnerapi.CreatedDepositResponse{}, partnerapi.CreatedWebhookResponse{},
	partnerapi.DeliveryDetailResponse{}, partnerapi.DeliveryList{}, partnerapi.DeliveryResponse{},
	partnerapi.DepositList{}, partnerapi.DepositResponse{},
	partnerapi.WebhookExplanationResponse{}, partnerapi.ConnectExplanationResponse{},
	partnerapi.MeResponse{}, partnerapi.ReplayResponse{}, partnerapi.RotatedSecretResponse{}, partnerapi.WebhookList{},
	partnerapi.WebhookResponse{},
}

// fill sets every part of v at random. Pointers, lists and maps may stay nil.
func fill(r *rand.Rand, v reflect.Value) {
	switch v.Type() {
	case reflect.TypeFor[partnerapi.Timestamp]():
		at := time.Unix(r.Int64N(300e9)-62e9, r.Int64N(1e9)).In(time.FixedZone("east", r.IntN(80_000)))
		v.Set(reflect.ValueOf(partnerapi.TimestampOf(at)))
		return
	case reflect.TypeFor[partnerapi.Euros]():
		v.Set(reflect.ValueOf(partnerapi.EurosOf(money.Cents(r.Int64N(1e9)))))
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Int, reflect.Int64:
		v.SetInt(r.Int64() >> r.IntN(64))
	case reflect.String:
		v.SetString(someText(r))
	case reflect.Pointer:
		if r.IntN(3) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(r, v.Elem())
		}
	case reflect.Slice:
		if r.IntN(5) > 0 {
			v.Set(reflect.MakeSlice(v.Type(), r.IntN(4), 4))
			for i := range v.Len() {
				fill(r, v.Index(i))
			}
		}
	case reflect.Map:
		if r.IntN(5) > 0 {
			v.Set(reflect.MakeMap(v.Type()))
			for range r.IntN(4) {
				v.SetMapIndex(reflect.ValueOf(someText(r)), reflect.ValueOf(someText(r)))
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fill(r, v.Field(i))
		}
	}
}

func someText(r *rand.Rand) string {
	pieces := []string{"dep_01m7xv8xz1f1qt2ztqtnyzvt9b", "https://pms.example/?a=1&b=<2>", "é", "漢", "🏠", "\u2028",
		"\u2029", `"`, `\`, "\n", "\x01", "\xff", "\xe2", "", " "}
	var s strings.Builder
	for range r.IntN(4) {
		s.WriteString(pieces[r.IntN(len(pieces))])
	}
	return s.String()
}

// A replay of a response by an older or a newer binary has the same bytes.
func TestResponses_Encoded_HaveTheBytesOfEncodingJSON(t *testing.T) {
	t.Parallel()
	const rounds = 300
	r := rand.New(rand.NewPCG(1, 2))
	for _, response := range responses {
		for range rounds {
			v := reflect.New(reflect.TypeOf(response))
			fill(r, v.Elem())
			var want bytes.Buffer
			enc := json.NewEncoder(&want)
			enc.SetEscapeHTML(false)
			require.NoError(t, enc.Encode(v.Interface()))
			got, err := jsonresponse.Encode(v.Interface())
			require.NoError(t, err)
			// Invalid UTF-8, which no stored text has, becomes U+FFFD: encoding/json writes it as an escape.
			require.Equal(t, strings.ReplaceAll(strings.TrimSuffix(want.String(), "\n"), `\ufffd`, "\ufffd"), string(got))
		}
	}
}

func TestTimestamp_OfAnyYear_HasTheLayoutOfPackageTime(t *testing.T) {
	t.Parallel()
	for _, year := range []int{-1, 0, 1, 999, 1000, 1969, 1970, 2026, 9999, 10_000} {
		for _, at := range []time.Time{time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC),
			time.Date(year, 12, 31, 23, 59, 59, 999_999_999, time.UTC)} {
			got, err := partnerapi.TimestampOf(at).MarshalJSON()
			require.NoError(t, err)
			require.Equal(t, at.Format(`"2006-01-02T15:04:05.000Z"`), string(got))
		}
	}
}

package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const pythonFile = "python/src/partner_deposits/_api.py"

func TestPython_TheLibraryIsThatOfTheDocument(t *testing.T) {
	t.Parallel()
	files, err := python(readDocument(t))
	require.NoError(t, err)
	kept, err := os.ReadFile("../" + pythonFile)
	require.NoError(t, err)
	require.Equal(t, string(kept), string(files[pythonFile]), "run go run ./sdk/generate")
}

func TestPython_ANewRouteAppearsInBothClients(t *testing.T) {
	t.Parallel()
	api := readDocument(t)
	text, number := Ref{Kind: "string"}, Ref{Kind: "number"}
	api.Types = append(api.Types,
		Type{Name: "Invoice", Doc: "What we ask for.", Fields: []Field{
			{Name: "from", Doc: "When it begins.", Required: true, Ref: Ref{Kind: "time"}},
			{Name: "items", Required: true, Ref: Ref{Kind: "array", Items: &Ref{Kind: "ref", Name: "InvoiceItem"}}},
			{Name: "amount", Required: true, Ref: number}, {Name: "amountCents", Required: true, Ref: Ref{Kind: "integer"}},
		}},
		Type{Name: "InvoiceItem", Fields: []Field{{Name: "bodySha256", Ref: text}}},
		Type{Name: "LineRequest", Fields: []Field{{Name: "isNew", Ref: Ref{Kind: "boolean"}}}})
	api.Resources = append(api.Resources, Resource{Name: "paidInvoices", Methods: []Method{{
		Name: "sendAgain", HTTP: "POST", Path: "/api/partner/v1/paid-invoices/{invoiceId}/send-again", Summary: "Send again",
		Doc: "With a `\\` in it.", PathParams: []Field{{Name: "invoiceId", Ref: text}}, Keyed: true, Deprecated: true,
		Body: &Type{Name: "SendRequest", Fields: []Field{
			{Name: "class", Required: true, Ref: Ref{Kind: "string", Enum: []string{"a", "b"}}},
			{Name: "amount", Money: true, Ref: number}, {Name: "note", Nullable: true, Ref: text},
			{Name: "lines", Doc: "All of them.", Ref: Ref{Kind: "array", Items: &Ref{Kind: "ref", Name: "LineRequest"}}},
		}},
		Shape: ShapeData, Answer: &Ref{Kind: "array", Items: &Ref{Kind: "ref", Name: "Invoice"}},
	}}})
	files, err := python(api)
	require.NoError(t, err)
	code := string(files[pythonFile])
	for _, wanted := range []string{`
LineParam = TypedDict("LineParam", {"isNew": "bool"}, total=False)
`, `
class Invoice(Answer):
    """What we ask for."""

    from_: str
    """When it begins."""
    items_: List[InvoiceItem]
    amount: Decimal
    amount_cents: int


`, `
class InvoiceItem(Answer):
    body_sha256: Optional[str]
`, `
Invoice._fields = {
    "from": Answer, "items": InvoiceItem, "amount": Answer, "amountCents": Answer,
}
`, `
    def send_again(self, invoice_id: str, *, class_: Literal["a", "b"], amount: Money = OMIT,
                   note: Optional[str] = OMIT, lines: Optional[Sequence[LineParam]] = None,
                   idempotency_key: Optional[str] = None, timeout: Optional[float] = None) -> List[Invoice]:
        """Send again.

        With a ` + "`\\\\`" + ` in it.

        - lines: All of them.

        Deprecated.
        """
        answer: List[Invoice] = self._core._call("list", Invoice, "POST", "/api/partner/v1/paid-invoices/{}/send-again",
                                                 invoice_id, body={"class": class_, "amount": amount, "note": note,
                                                 "lines": lines}, money=("amount",), nullable=("note",),
                                                 key=idempotency_key or str(uuid.uuid4()), timeout=timeout)
        return answer
`, `
    async def send_again(`, `
        return await in_thread(self._resource.send_again, invoice_id, class_=class_, amount=amount, note=note,
                               lines=lines, idempotency_key=idempotency_key, timeout=timeout)
`, `
    def paid_invoices(self) -> PaidInvoicesResource:
`, `
    def paid_invoices(self) -> AsyncPaidInvoicesResource:
`} {
		require.True(t, strings.Contains(code, wanted), "%s", wanted)
	}
}

func TestPython_ATypeNamedLikeThePartsOfTheLibraryIsAnError(t *testing.T) {
	t.Parallel()
	api := readDocument(t)
	api.Types = append(api.Types, Type{Name: "Pages", Enum: []string{"a"}})
	_, err := python(api)
	require.EqualError(t, err, "the Python library has a Pages of its own")
}

package partnerapi

import (
	"context"
	"net/http"

	"partnerdeposits/app/deposits"
	"partnerdeposits/app/platform/idempotent"
	"partnerdeposits/core/id"
	"partnerdeposits/core/tenant"
)

// linkQueued is the status in responses of a checkout-link mail that will be sent.
const linkQueued = "queued"

func (a *api) SendDepositLink(ctx context.Context,
	r SendDepositLinkRequestObject) (SendDepositLinkResponseObject, error) {
	in := deposits.SendLinkRequest{DepositID: parseID(id.Deposit, r.DepositID),
		Recipients: []tenant.MailContact{contactOf(*r.Body)}}
	response, err := a.Deposits.SendLink(ctx, requestOf(ctx).caller, in,
		keyedCall(ctx, func(queued []deposits.QueuedLinkMail) (idempotent.Response, error) {
			return encodeResponse(http.StatusAccepted, LinkMailResponse{Data: linkMailOf(queued[0])})
		}))
	return encodedResponse(response), err
}

func (a *api) SendDepositLinkBatch(ctx context.Context,
	r SendDepositLinkBatchRequestObject) (SendDepositLinkBatchResponseObject, error) {
	in := deposits.SendLinkRequest{DepositID: parseID(id.Deposit, r.DepositID), Batch: true}
	for _, to := range r.Body.Recipients {
		in.Recipients = append(in.Recipients, contactOf(to))
	}
	response, err := a.Deposits.SendLink(ctx, requestOf(ctx).caller, in,
		keyedCall(ctx, func(queued []deposits.QueuedLinkMail) (idempotent.Response, error) {
			list := LinkMailListResponse{Data: make([]LinkMail, 0, len(queued))}
			for _, q := range queued {
				list.Data = append(list.Data, linkMailOf(q))
			}
			return encodeResponse(http.StatusAccepted, list)
		}))
	return encodedResponse(response), err
}

func contactOf(r SendLinkRequest) tenant.MailContact {
	return tenant.MailContact{Email: r.Email, Locale: value(r.Locale)}
}

func linkMailOf(q deposits.QueuedLinkMail) LinkMail {
	return LinkMail{Email: q.Email, MessageID: id.Mail.Of(q.MessageID), Status: linkQueued}
}

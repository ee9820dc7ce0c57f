-- +goose Up
-- Records of the Stripe adapter (docs/decisions/0025-stripe.md). Numbers and requests are stored before a request is sent, so that every request can be
-- repeated with its own key. Only the adapter reads these tables.
CREATE TABLE stripe_payments (
    id           uuid PRIMARY KEY,                                                 -- the id of the payment: the root of its keys
    kind         text CHECK (kind IN ('fee', 'collection')),                       -- null: closed before it was opened
    deposit_id   uuid NOT NULL,
    amount_cents bigint NOT NULL,
    created_at   timestamptz NOT NULL,
    closed_at    timestamptz,                                                      -- no object is made from then on
    paid_ref     text NOT NULL DEFAULT '',                                         -- the payment intent that succeeded
    customer     text NOT NULL DEFAULT '',                                         -- of a paid fee: keeps the card
    method       text NOT NULL DEFAULT '',                                         -- the card
    forgotten_at timestamptz                                                       -- customer and card were deleted
);
CREATE INDEX stripe_payments_by_ref ON stripe_payments (paid_ref) WHERE paid_ref <> '';

-- Pages (Checkout Sessions) and intents (PaymentIntents that are charged without the tenant).
CREATE TABLE stripe_objects (
    payment_id   uuid NOT NULL REFERENCES stripe_payments ON DELETE CASCADE,
    kind         text NOT NULL CHECK (kind IN ('page', 'intent')),
    number       integer NOT NULL,
    request      text NOT NULL,                                                    -- '' once the answer is known: it may hold an address
    ref          text NOT NULL DEFAULT '',                                         -- Stripe's id, '' while unknown
    state        text NOT NULL CHECK (state IN ('live', 'dead', 'paid')),          -- dead: seen to be over, or never made
    first_at     timestamptz NOT NULL,                                             -- when the request was first, and last, about to be sent
    last_at      timestamptz NOT NULL,
    PRIMARY KEY (payment_id, kind, number)
);
-- At no moment are two objects payable for one payment.
CREATE UNIQUE INDEX stripe_objects_one_live ON stripe_objects (payment_id) WHERE state <> 'dead';
CREATE INDEX stripe_objects_by_ref ON stripe_objects (ref) WHERE ref <> '';

CREATE TABLE stripe_attempts (
    payment_id uuid NOT NULL REFERENCES stripe_payments ON DELETE CASCADE,
    attempt    integer NOT NULL,
    intent     integer NOT NULL,                                                   -- number of the intent; 0: no card to charge
    try        integer NOT NULL DEFAULT 1,                                         -- counts keys that were used up without an effect
    before     text NOT NULL,                                                      -- the latest charge of the intent before the attempt
    sent_at    timestamptz NOT NULL,
    charge     text NOT NULL DEFAULT '',
    answered   boolean NOT NULL DEFAULT false,
    failure    text NOT NULL DEFAULT '',
    refusal    text CHECK (refusal IN ('later', 'tenant', 'never')),               -- null: not answered
    PRIMARY KEY (payment_id, attempt)
);

CREATE TABLE stripe_refunds (
    id           uuid PRIMARY KEY,                                                 -- the id of the refund: the root of its keys
    payment_id   uuid NOT NULL REFERENCES stripe_payments ON DELETE CASCADE,
    amount_cents bigint NOT NULL CHECK (amount_cents > 0),
    number       integer NOT NULL DEFAULT 1,
    request      text NOT NULL,
    ref          text NOT NULL DEFAULT '',
    failure      text NOT NULL DEFAULT '',                                         -- of a refund that Stripe refused
    first_at     timestamptz NOT NULL,
    last_at      timestamptz NOT NULL
);
CREATE INDEX stripe_refunds_of_a_payment ON stripe_refunds (payment_id);

-- The sandbox charges a saved card in attempts, and opens a page for a collection.
ALTER TABLE sandbox_payments
    ADD COLUMN card    text NOT NULL DEFAULT '',                                   -- of a fee: the code with which later charges are refused, '' for none
    ADD COLUMN attempt integer NOT NULL DEFAULT 0,                                 -- of a collection: the attempt that was answered last
    ADD COLUMN refusal text NOT NULL DEFAULT '';                                   -- of a collection that failed: later, tenant or never

-- +goose Down
SELECT 'what the adapters know stays';

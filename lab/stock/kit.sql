-- Temporary tables and functions that make rows; package stock loads them into a session. The time, the
-- id, the owner and the status of row i follow from i, so that two sessions agree about the deposits of deliveries.
-- OFFSET 0 lets a subquery's result be computed once, and not at each place that uses the result.
CREATE TEMP TABLE stock_settings (ends timestamptz, salt text, before bigint, owners int, deposits bigint, deliveries bigint, events bigint, clients bigint);
CREATE TEMP TABLE stock_owners (n int PRIMARY KEY, partner uuid, account uuid, subscription uuid, external_id text);

-- A UUID v7 of an instant. The same arguments give the same id.
CREATE FUNCTION pg_temp.stock_id(seed text, at timestamptz) RETURNS uuid LANGUAGE sql IMMUTABLE AS $$
    SELECT (lpad(to_hex((date_part('epoch', at) * 1000)::bigint), 12, '0') || '7' || overlay(left(md5(seed), 19) PLACING '8' FROM 4 FOR 1))::uuid
$$;

-- The time of row i of n, counted from 0, when n rows spread evenly over a span.
CREATE FUNCTION pg_temp.stock_at(ends timestamptz, i bigint, n bigint, span interval) RETURNS timestamptz LANGUAGE sql IMMUTABLE AS $$
    SELECT ends - span * ((n - 1 - i)::float8 / n)
$$;

-- A number from 0 to 1023 that looks random and depends on i alone.
CREATE FUNCTION pg_temp.stock_dice(i bigint) RETURNS int LANGUAGE sql IMMUTABLE AS $$ SELECT hashint8(i) & 1023 $$;

CREATE FUNCTION pg_temp.stock_make_owners(partners int, accounts int) RETURNS TABLE (partner uuid, account uuid, subscription uuid) LANGUAGE plpgsql AS $$
DECLARE
    since timestamptz := now() - interval '400 days';
BEGIN
    FOR p IN 1..partners LOOP
        partner := pg_temp.stock_id(gen_random_uuid()::text, since);
        subscription := pg_temp.stock_id(gen_random_uuid()::text, since);
        INSERT INTO partners (id, slug, name, created_at) VALUES (partner, 's-' || left(md5(partner::text), 30), 'Stock ' || p, since);
        INSERT INTO webhook_subscriptions (id, partner_id, url, events, secret, created_at)
        VALUES (subscription, partner, 'https://receiver.example/stock', '{deposit.activated,deposit.captured,deposit.expired,deposit.cancelled,deposit.status_changed}', 'x', since);
        FOR a IN 1..accounts LOOP
            account := pg_temp.stock_id(gen_random_uuid()::text, since);
            INSERT INTO operators (id, email, email_key, password_hash, created_at)
            VALUES (account, account || '@stock.example', account || '@stock.example', 'x', since);
            INSERT INTO accounts (id, operator_id, company_name, created_at) VALUES (account, account, 'Rentals ' || a, since);
            INSERT INTO account_links (id, partner_id, account_id, external_id, linked_at) VALUES (gen_random_uuid(), partner, account, 'operator-' || a, since);
            RETURN NEXT;
        END LOOP;
    END LOOP;
END $$;

-- The daily partitions of the days that deliveries spread over.
CREATE FUNCTION pg_temp.stock_partitions() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    day  timestamptz;
    name text;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('ensure_partitions'));
    FOR day IN SELECT generate_series(date_trunc('day', ends, 'UTC') - interval '29 days', date_trunc('day', ends, 'UTC'), interval '1 day') FROM stock_settings WHERE deliveries > 0 LOOP
        name := to_char(day AT TIME ZONE 'UTC', 'YYYYMMDD');
        EXECUTE format('CREATE TABLE IF NOT EXISTS %I PARTITION OF events FOR VALUES FROM (%L) TO (%L)', 'events_' || name, uuid_floor(day), uuid_floor(day + interval '1 day'));
        EXECUTE format('CREATE TABLE IF NOT EXISTS %I PARTITION OF delivery_attempts FOR VALUES FROM (%L) TO (%L)', 'delivery_attempts_' || name, day, day + interval '1 day');
    END LOOP;
END $$;

-- Inserts deposits with their clients, timers and history. Deposits 4m and 4m + 1 of an owner share a client.
CREATE FUNCTION pg_temp.stock_deposits(first bigint, last bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO clients (id, account_id, partner_id, email, first_name, last_name, created_at)
    SELECT pg_temp.stock_id(s.salt || 'c' || i, at), o.account, o.partner, 'tenant-' || i || '@mail.example', 'Ada', 'Tenant ' || i, at
    FROM stock_settings s, generate_series(first, last) AS i, LATERAL pg_temp.stock_at(s.ends, i, s.deposits, '365 days') AS at, stock_owners o
    WHERE o.n = i % s.owners AND i / s.owners % 4 = 0
    ORDER BY i;

    WITH made AS (
        INSERT INTO deposits (id, reference, status, status_reason, version, account_id, partner_id, by_partner_api, external_id, client_id, amount_cents, captured_cents,
            contract_start_at, contract_end_at, rental_contract, return_url, url_generation, metadata, checkout_token_hash, checkout_token, checkout_expires_at,
            activated_at, expires_at, cancelled_at, closed_at, captured_at, created_at, updated_at)
        SELECT id, 'D-' || left(code, 4) || '-' || substr(code, 5), status,
            CASE status WHEN 'cancelled' THEN 'by_partner' WHEN 'captured' THEN 'claim' WHEN 'close' THEN 'coverage_elapsed' WHEN 'payment_issue' THEN 'fee_failed' WHEN 'incomplete' THEN 'checkout_idle' ELSE '' END,
            CASE WHEN status = 'pending' THEN 1 WHEN status IN ('captured', 'close') THEN 3 ELSE 2 END, o.account, o.partner, true, o.external_id,
            CASE WHEN i / s.owners % 4 < 2 THEN pg_temp.stock_id(s.salt || 'c' || c, pg_temp.stock_at(s.ends, c, s.deposits, '365 days')) END,
            amount, CASE WHEN status = 'captured' THEN amount / 2 ELSE 0 END, at + interval '10 days', at + interval '17 days',
            CASE WHEN dice % 10 > 0 THEN 'BK-' || upper(left(md5(i::text), 8)) ELSE '' END, 'https://booking.example/return', false,
            CASE WHEN dice % 4 = 0 THEN '{"unit": "A-12", "channel": "direct"}' ELSE '{}' END::jsonb,
            sha256(uuid_send(id)), sha256(uuid_send(id)) || sha256(code::bytea), at + interval '17 days',
            CASE WHEN secured THEN at END, CASE WHEN secured THEN at + interval '31 days' END, CASE WHEN status = 'cancelled' THEN at END,
            CASE WHEN status = 'close' THEN at + interval '31 days' END, CASE WHEN status = 'captured' THEN at END, at, at
        FROM stock_settings s, generate_series(first, last) AS i,
            LATERAL (SELECT i - s.owners * (i / s.owners % 4), pg_temp.stock_at(s.ends, i, s.deposits, '365 days'), pg_temp.stock_dice(i),
                upper(lpad(to_hex((s.before + i) * 2654435761 % 4294967296), 8, '0')) OFFSET 0) AS row(c, at, dice, code),
            LATERAL (SELECT pg_temp.stock_id(s.salt || 'd' || i, row.at), 7000 + 500 * (dice % 400), CASE
                WHEN s.ends - row.at < interval '15 days' AND dice < 200 THEN 'pending'
                WHEN s.ends - row.at < interval '15 days' AND dice < 206 THEN 'incomplete'
                WHEN s.ends - row.at < interval '15 days' AND dice < 208 THEN 'payment_issue'
                WHEN dice < 330 THEN 'cancelled'
                WHEN dice < 370 THEN 'captured'
                WHEN s.ends - row.at < interval '30 days' THEN 'active'
                ELSE 'close' END OFFSET 0) AS kind(id, amount, status),
            LATERAL (SELECT status IN ('active', 'captured', 'close')) AS cover(secured), stock_owners o
        WHERE o.n = i % s.owners
        ORDER BY i
        RETURNING id, version, status, status_reason, checkout_expires_at, expires_at, created_at),
    timed AS (
        INSERT INTO deposit_timers (kind, due_at, deposit_id)
        SELECT CASE status WHEN 'active' THEN 'coverage' ELSE 'checkout' END, CASE status WHEN 'active' THEN expires_at ELSE checkout_expires_at END, id
        FROM made WHERE status IN ('active', 'pending', 'incomplete', 'payment_issue'))
    INSERT INTO deposit_transitions (deposit_id, version, from_status, to_status, trigger, at, actor)
    SELECT id, version, CASE WHEN version = 3 THEN 'active' ELSE 'pending' END, status, status_reason, created_at, 'system' FROM made WHERE version > 1;
END $$;

-- Inserts clients of the owners in turn, without a deposit, over a year.
CREATE FUNCTION pg_temp.stock_clients(first bigint, last bigint) RETURNS void LANGUAGE sql AS $$
    INSERT INTO clients (id, account_id, partner_id, email, first_name, last_name, created_at)
    SELECT pg_temp.stock_id(s.salt || 'g' || i, at), o.account, o.partner, 'guest-' || i || '@mail.example', 'Ben', 'Guest ' || i, at
    FROM stock_settings s, generate_series(first, last) AS i, LATERAL pg_temp.stock_at(s.ends, i, s.clients, '365 days') AS at, stock_owners o
    WHERE o.n = i % s.owners ORDER BY i
$$;

-- Inserts finished deliveries, the failed attempts of some, and the newest of their events. Delivery i tells of a deposit of its
-- owner; of 1,024 deliveries five have failed and 25 succeeded at the second attempt.
CREATE FUNCTION pg_temp.stock_deliveries(first bigint, last bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    CREATE TEMP TABLE stock_block ON COMMIT DROP AS
    SELECT i, o.partner, o.subscription, pg_temp.stock_id(s.salt || 'e' || i, at) AS event_id, pg_temp.stock_id(s.salt || 'v' || i, at) AS id, at, dice, deposit_id,
        'deposit.' || CASE WHEN dice < 450 THEN 'activated' WHEN dice < 800 THEN 'expired' WHEN dice < 970 THEN 'cancelled' WHEN dice < 1000 THEN 'captured' ELSE 'status_changed' END AS event,
        i >= s.deliveries - s.events AS kept,
        '{"id":"' || deposit_id || '","reference":"D-7K3M-9Q2X","rentalContract":"BK-1","status":"active","previousStatus":"pending","amountCents":50000,"contractStartAt":"2026-07-01T12:00:00.000Z",'
            || '"contractEndAt":"2026-07-08T12:00:00.000Z","client":{"id":"cli_01m7xv8xz1f1qt2ztqtnyzvt9b","email":"tenant-' || i || '@mail.example","firstName":"Ada","lastName":"Tenant"},'
            || '"partnerContext":{"partnerId":"prt_01m7xv8xz1f1qt2ztqtnyzvt9b","partnerName":"Stock","externalId":"' || o.external_id || '"}}' AS data
    FROM stock_settings s, generate_series(first, last) AS i,
        LATERAL (SELECT pg_temp.stock_at(s.ends, i, s.deliveries, '29 days'), pg_temp.stock_dice(i), CASE WHEN s.deposits > 0 THEN i * s.deposits / s.deliveries ELSE 0 END OFFSET 0) AS row(at, dice, d),
        LATERAL (SELECT pg_temp.stock_id(s.salt || 'd' || row.d, pg_temp.stock_at(s.ends, row.d, greatest(s.deposits, 1), '365 days')) OFFSET 0) AS deposit(deposit_id), stock_owners o
    WHERE o.n = row.d % s.owners
    ORDER BY i;

    INSERT INTO events (id, partner_id, name, deposit_id, data, created_at, sequence)
    SELECT event_id, b.partner, event, deposit_id, data, at, f.last_sequence + row_number() OVER (PARTITION BY b.partner ORDER BY i)
    FROM stock_block b JOIN event_feeds f ON f.partner_id = b.partner WHERE kept ORDER BY i;
    UPDATE event_feeds f SET last_sequence = f.last_sequence + n.events
    FROM (SELECT partner, count(*) AS events FROM stock_block WHERE kept GROUP BY partner) n WHERE f.partner_id = n.partner;
    INSERT INTO deliveries (subscription_id, id, event_id, event, deposit_id, state, seq, attempts, body, event_at, created_at, finished_at, taken_at, taken_ms, taken_status, taken_snippet)
    SELECT subscription, id, event_id, event, deposit_id, CASE WHEN dice < 5 THEN 3 ELSE 2 END, tries, tries, convert_to('{"event":"' || event || '","createdAt":"2026-07-01T12:00:00.000Z","data":' || data || '}', 'UTF8'),
        at, at, at, CASE WHEN dice >= 5 THEN at END, CASE WHEN dice >= 5 THEN 12 END, CASE WHEN dice >= 5 THEN 200 END, CASE WHEN dice >= 5 THEN '{"ok":true}' END
    FROM stock_block, LATERAL (SELECT CASE WHEN dice < 5 THEN 11 WHEN dice < 30 THEN 2 ELSE 1 END) AS made(tries) ORDER BY i;
    INSERT INTO delivery_attempts (delivery_id, number, started_at, duration_ms, result, response_status, snippet)
    SELECT id, number, at, 15, 'non_2xx', 500, 'try again later' FROM stock_block, generate_series(1, CASE WHEN dice < 5 THEN 11 ELSE 1 END) AS number WHERE dice < 30 ORDER BY i, number;
    DROP TABLE stock_block;
END $$;

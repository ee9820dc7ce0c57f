// What the types allow and what they refuse. tsc reads this file, nobody runs it.
import PartnerDeposits, {
  ApiError, ConnectionError, SignatureError, PartnerDeposits as Named, connectUrl, isNewer, standardSecret, unwrap,
  verifyReturn,
} from 'partner-deposits';
import type { Deposit, DepositStatus, List, Webhook, WebhookEvent } from 'partner-deposits';

declare const signal: { readonly aborted: boolean };
declare const console: { log(...values: unknown[]): void };
const client: Named = new PartnerDeposits('svc_pk_test_…', { baseUrl: 'http://127.0.0.1:8080', timeout: 5000 });

export async function methods(): Promise<void> {
  const created = await client.deposits.create({
    accountId: 'acct_…', amount: '500.50', contractStartAt: new Date(), contractEndAt: '2026-08-08T10:00:00Z',
  }, { idempotencyKey: 'c0ffee00-0000-4000-8000-000000000000', timeout: 5000, signal });
  const url: string | undefined = created.depositUrl;
  const deposit: Deposit = await client.deposits.get(created.id, { timeout: 5000 });
  const [text, cents]: [string, number] = [deposit.amount, deposit.amountCents];
  await client.deposits.capture(created.id, { amount: 120n, reason: 'damage' });
  await client.deposits.release(created.id);
  await client.clients.update('cli_…', { phone: null });
  const gone: void = await client.accounts.delete('acct_…');
  console.log(url, text, cents, gone);
}

export async function lists(): Promise<void> {
  const list: List<Deposit> = client.deposits.list({ status: ['pending', 'active'], createdFrom: new Date() });
  for await (const { reference } of list) console.log(reference);
  const { data, pagination } = await list.page();
  const next: string | null = pagination.nextCursor;
  for await (const event of client.events.follow(1041, { feedId: 'feed_…', waitSeconds: 0, signal })) {
    const [sequence, feedId]: [number, string] = [event.sequence, event.feedId];
    console.log(sequence, feedId, isNewer(event, null));
  }
  const webhook: Webhook = await client.webhooks.ensure('https://partner.example/hooks', ['deposit.activated']);
  const secret: string | undefined = (await client.webhooks.ensure('https://partner.example/hooks')).secret;
  console.log(data, next, webhook, secret);
}

export async function signatures(headers: { [name: string]: string | string[] | undefined }): Promise<string> {
  const event: WebhookEvent = await unwrap(new Uint8Array(), headers, 'svc_whsec_…', { tolerance: 60, now: 0 });
  if (event.event === 'rental_operator.linked') return event.data.accountId;
  const status: DepositStatus = event.data.status;
  const captured: number | null | undefined = isNewer(event, 2) ? event.data.capturedAmountCents : null;
  const { accountId, ts, error } = await verifyReturn('/connected?…', 'svc_cs_…');
  const url = await connectUrl('https://dashboard.example', { slug: 'demo', secret: 'svc_cs_…', externalId: '7' });
  return [status, captured, accountId, ts + 1, error ?? '', url.length, standardSecret('svc_whsec_…').length].join();
}

export function errors(error: unknown): string | number | null | undefined {
  if (error instanceof ApiError) return error.retryAfter ?? `${error.status} ${error.code} ${error.requestId}`;
  if (error instanceof SignatureError) return error.hint ?? error.reason;
  return error instanceof ConnectionError ? error.message : null;
}

export async function refused(): Promise<void> {
  // @ts-expect-error an API key is needed
  new PartnerDeposits();
  // @ts-expect-error an amount is text or a whole number
  await client.deposits.capture('dep_…', { amount: null });
  // @ts-expect-error contractEndAt is missing
  await client.deposits.create({ accountId: 'acct_…', amount: '500', contractStartAt: '2026-08-01T15:00:00Z' });
  // @ts-expect-error an id is needed
  await client.deposits.get();
  // @ts-expect-error there is no such field
  await client.deposits.cancel('dep_…', { why: 'duplicate' });
  // @ts-expect-error there is no such reason
  await client.deposits.cancel('dep_…', { reason: 'rain' });
  // @ts-expect-error a new secret takes no idempotency key
  await client.webhooks.rotateSecret('pwh_…', { idempotencyKey: 'c0ffee00-0000-4000-8000-000000000000' });
  // @ts-expect-error an amount of an answer is text
  const amount: number = (await client.deposits.get('dep_…')).amount;
  // @ts-expect-error a parsed body cannot be verified
  await unwrap({ event: 'deposit.activated' }, {}, 'svc_whsec_…');
  // @ts-expect-error there is no such reason
  if ((await unwrap('', {}, '').catch((error: SignatureError) => error.reason)) === 'old') return;
  // @ts-expect-error the key stays inside
  console.log(client.apiKey, amount);
}

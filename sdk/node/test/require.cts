// A project of CommonJS has the same types. tsc reads this file, nobody runs it.
import PartnerDeposits, { unwrap, type Deposit } from 'partner-deposits';

export const deposit: Promise<Deposit> = new PartnerDeposits('svc_pk_test_…').deposits.get('dep_…');
// @ts-expect-error a secret is needed
export const event = unwrap('', {});

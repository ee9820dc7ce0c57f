import './supported.js';

export { PartnerDeposits, PartnerDeposits as default, ApiError, ConnectionError } from './client.js';
export { SignatureError, connectUrl, standardSecret, unwrap, verifyReturn } from './signing.js';

export { isNewer } from './api.gen.js';
export { ApiError, ConnectionError, PartnerDeposits, PartnerDeposits as default } from './client.js';
export { SignatureError, connectUrl, standardSecret, unwrap, verifyReturn } from './signing.js';

const { node = '20.19' } = globalThis.process?.versions ?? {};
const [major, minor] = node.split('.');
if (major < 20 || (major < 21 && minor < 19)) throw new Error(`partner-deposits needs Node 20.19: this is ${node}`);

export { ApiError, ConnectionError, PartnerDeposits, PartnerDeposits as default } from './client.js';
export { SignatureError, connectUrl, standardSecret, unwrap, verifyReturn } from './signing.js';

const { node = '20.19' } = globalThis.process?.versions ?? {};
const [major, minor] = node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  throw new Error(`partner-deposits needs Node 20.19 or newer. This is Node ${node}.`);
}

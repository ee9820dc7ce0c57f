// Sets what the samples of README.md use and do not define.
const env = process.env;
const [slug, dashboard, connectSecret] = [env.PARTNER_SLUG, env.CONNECT_BASE, env.CONNECT_SECRET];
const [accountId, returnedUrl] = [env.ACCOUNT_ID, env.RETURN_URL];
const [hookUrl, rawBody, secret] = [env.HOOK_URL, env.WEBHOOK_BODY, env.WEBHOOK_SECRET];
const headers = JSON.parse(env.WEBHOOK_HEADERS);
const returnsTo = 'https://pms.example.com/connected';
let kept = {}; // the feed from its beginning

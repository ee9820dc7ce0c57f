// Sets what the samples of README.md use and do not define.
const env = process.env;
const [accountId, slug, dashboard, connectSecret] = [env.ACCOUNT_ID, env.PARTNER_SLUG, env.CONNECT_BASE, env.CONNECT_SECRET];
const [hookUrl, rawBody, secret, returnedUrl] = [env.HOOK_URL, env.WEBHOOK_BODY, env.WEBHOOK_SECRET, env.RETURN_URL];
const headers = JSON.parse(env.WEBHOOK_HEADERS);
const returnsTo = 'https://pms.example.com/connected';

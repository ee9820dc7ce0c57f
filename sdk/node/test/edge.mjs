// A receiver for runtimes with the Request of fetch, such as edge runtimes.
import { SignatureError, unwrap } from 'partner-deposits';

export async function receive(request, env) {
  try {
    const event = await unwrap(await request.arrayBuffer(), request.headers, env.WEBHOOK_SECRET);
    return new Response(`verified ${event.event}`);
  } catch (error) {
    if (!(error instanceof SignatureError)) throw error;
    return new Response(error.reason, { status: 400 });
  }
}

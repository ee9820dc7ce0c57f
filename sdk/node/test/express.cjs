// A receiver with Express: it verifies the webhooks that are posted to http://127.0.0.1:$PORT/hooks/deposits.
const express = require('express');
const { SignatureError, unwrap } = require('partner-deposits');

const app = express();

app.post('/hooks/deposits', express.raw({ type: 'application/json' }), async (req, res, next) => {
  try {
    const event = await unwrap(req.body, req.headers, process.env.WEBHOOK_SECRET);
    console.error(`verified ${event.event}`);
    res.sendStatus(204);
  } catch (error) {
    if (error instanceof SignatureError) res.status(400).send(error.reason);
    else next(error);
  }
});

const server = app.listen(process.env.PORT, '127.0.0.1', () => console.log(server.address().port));

<?php declare(strict_types=1);

// A receiver in plain PHP: WEBHOOK_SECRET=… php -S 127.0.0.1:8099 plain.php

require __DIR__ . '/../autoload.php';

try {
    $body = file_get_contents('php://input');
    $event = PartnerDeposits\Webhook::unwrap($body, $_SERVER, getenv('WEBHOOK_SECRET'));
    file_put_contents('php://stderr', "verified $event->event\n");
    http_response_code(204);
} catch (PartnerDeposits\SignatureException $e) {
    http_response_code(400);
    echo $e->reason;
}

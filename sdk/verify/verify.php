<?php declare(strict_types=1);

/**
 * Verifies a webhook of the Partner API. This file is to be copied; the library tells more about a refusal.
 *
 *     try {
 *         $event = verify_webhook(file_get_contents('php://input'), $_SERVER, getenv('WEBHOOK_SECRET'));
 *         http_response_code(204);
 *     } catch (InvalidWebhook $refusal) {
 *         http_response_code(400);
 *     }
 */

/** Its message is the reason: missing_header, malformed_header, mismatch, expired or invalid_json. */
final class InvalidWebhook extends RuntimeException {}

/**
 * Returns the event of a webhook.
 *
 * @param string $rawBody the bytes as they came: parse nothing before
 * @param iterable<string, string|list<string>> $headers of the request, or $_SERVER
 * @param string $secret the signing secret of the subscription, svc_whsec_…
 * @param int $tolerance how far the timestamp may be from now, in seconds
 * @return array{event: string, createdAt: string, data: array<string, mixed>}
 * @throws InvalidWebhook
 */
function verify_webhook(
    string $rawBody, iterable $headers, #[\SensitiveParameter] string $secret, int $tolerance = 300, ?int $now = null,
): array {
    $given = ['x-svc-signature' => [], 'x-svc-timestamp' => []];
    foreach ($headers as $name => $values) {
        $name = preg_replace('/^http-/', '', strtolower(strtr((string) $name, '_', '-')));
        if (isset($given[$name])) {
            array_push($given[$name], ...array_values((array) $values));
        }
    }
    [$signature, $timestamp] = array_map('implode', array_values($given));
    if ($signature === '' || $timestamp === '') {
        throw new InvalidWebhook('missing_header');
    }
    $once = max(array_map('count', $given)) === 1;
    if (!$once || !preg_match('/^\d{1,15}$/D', $timestamp) || !preg_match('/^sha256=[0-9a-f]{64}$/D', $signature)) {
        throw new InvalidWebhook('malformed_header');
    }
    $expected = 'sha256=' . hash_hmac('sha256', "$timestamp.$rawBody", $secret);
    if ($secret === '' || !hash_equals($expected, $signature)) {
        throw new InvalidWebhook('mismatch');
    }
    if (abs(($now ?? time()) - (int) $timestamp) > $tolerance) {
        throw new InvalidWebhook('expired');
    }
    if (!json_decode($rawBody) instanceof stdClass) {
        throw new InvalidWebhook('invalid_json');
    }
    return json_decode($rawBody, true);
}

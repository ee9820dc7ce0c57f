<?php declare(strict_types=1);

namespace PartnerDeposits;

/** Webhooks as they arrive. */
final class Webhook
{
    use ComparesVersions;

    /** A body as we send it: no white space outside of strings, and in them our escapes alone. */
    private const OUR_FORM = '~^(?=\{"event":")(?:[^"\s]++|"(?:[^"\\\\<>&\xE2]++|\xE2(?!\x80[\xA8\xA9])'
        . '|\\\\(?:[^/u]|u(?:00[01][0-9a-f]|003[ce]|0026|202[89]|fffd)))*+")*+$~D';

    /**
     * Verifies the raw body of a webhook, and gives the event. Answer a SignatureException with the status 400.
     * @param iterable<string, string|list<string>> $headers of the request, or $_SERVER
     */
    public static function unwrap(
        string $rawBody, iterable $headers, #[\SensitiveParameter] string $secret,
        int $tolerance = 300, ?int $now = null,
    ): Type\WebhookEvent {
        $given = ['x-svc-signature' => [], 'x-svc-timestamp' => []];
        foreach ($headers as $name => $values) {
            $name = preg_replace('/^http-/', '', strtolower(strtr((string) $name, '_', '-')));
            isset($given[$name]) && array_push($given[$name], ...array_values((array) $values));
        }
        [$signature, $timestamp] = array_map(implode(...), array_values($given));
        $signature !== '' && $timestamp !== '' || throw new SignatureException('missing_header');
        max(array_map(count(...), $given)) === 1 && preg_match('/^\d{1,15}$/D', $timestamp)
            || throw new SignatureException('malformed_header');
        $wellFormed = preg_match('/^sha256=[0-9a-f]{64}$/D', $signature);
        $wellFormed || throw new SignatureException('malformed_header', match (1) {
            preg_match('/^[0-9a-f]{64}$/D', $signature) => 'prefix_missing',
            preg_match('/^(sha256=)?[0-9A-Fa-f]{64}$/D', $signature) => 'upper_case',
            preg_match('~^(sha256=)?[A-Za-z0-9+/]{43}=$~D', $signature) => 'base64',
            default => null,
        });
        $signs = fn (string $message) => hash_equals('sha256=' . hash_hmac('sha256', $message, $secret), $signature);
        $secret !== '' && $signs("$timestamp.$rawBody") || throw new SignatureException('mismatch', match (true) {
            (bool) preg_match('/^[^!-~]|[^!-~]$/D', $secret) => 'secret_whitespace',
            !str_starts_with($secret, 'svc_whsec_') => 'wrong_secret_kind',
            $signs("$rawBody.$timestamp"), $signs($timestamp . $rawBody), $signs($rawBody) => 'order',
            strlen($timestamp) === 13 => 'milliseconds',
            !preg_match('/^\{.*\}$/Ds', $rawBody), !json_decode($rawBody) instanceof \stdClass => 'body_changed',
            preg_match(self::OUR_FORM, $rawBody) === 0 => 'body_reserialized',
            default => null,
        });
        $age = ($now ?? time()) - (int) $timestamp;
        $direction = strlen($timestamp) === 13 ? 'milliseconds' : ($age > 0 ? 'stale' : 'future');
        abs($age) <= $tolerance || throw new SignatureException('expired', $direction);
        $event = Type\WebhookEvent::of(json_decode($rawBody));
        return $event instanceof ApiObject ? $event : throw new SignatureException('invalid_json');
    }

    /** Gives a signing secret in the form that libraries for Standard Webhooks take. */
    public static function standardSecret(#[\SensitiveParameter] string $secret): string
    {
        $valid = str_starts_with($secret, 'svc_whsec_') && strlen($secret) >= 24 && strlen($secret) <= 64;
        $valid || throw new \InvalidArgumentException('secret: must be a signing secret, svc_whsec_…');
        return 'whsec_' . base64_encode($secret);
    }
}

/** The operator's way to us and back to you. */
final class Connect
{
    /**
     * Gives the URL that connects an operator. The base is that of the dashboard, and the page register or login.
     * @param array{ts?: int|string, email?: string, name?: string, returnUrl?: string, page?: string} $options
     */
    public static function url(
        string $base, string $slug, #[\SensitiveParameter] string $secret, string $externalId, array $options = [],
    ): string {
        [$ts, $page] = [$options['ts'] ?? time(), $options['page'] ?? 'register'];
        $refuse = fn (string $why) => throw new \InvalidArgumentException($why);
        str_starts_with($secret, 'svc_cs_') || $refuse('secret: must begin with svc_cs_');
        preg_match('/^[a-z0-9-]{2,40}$/D', $slug) || $refuse('slug: must be 2 to 40 of a-z, 0-9 and -');
        $externalId !== '' && strlen($externalId) <= 255 || $refuse('externalId: must have 1 to 255 bytes');
        preg_match('/^\d{1,10}$/D', is_float($ts) ? '' : (string) $ts) || $refuse('ts: must be Unix seconds');
        in_array($page, ['register', 'login'], true) || $refuse('page: must be register or login');
        $query = ['partner' => $slug, 'external_id' => $externalId, 'ts' => $ts];
        $query['sig'] = hash_hmac('sha256', "$slug.$externalId.$ts", $secret);
        $optional = ['email' => $options['email'] ?? '', 'name' => $options['name'] ?? ''];
        $query += array_filter($optional + ['return_url' => $options['returnUrl'] ?? ''], strlen(...));
        return rtrim($base, '/') . "/$page?" . http_build_query($query, '', '&', PHP_QUERY_RFC3986);
    }

    /** Verifies the URL with which an operator comes back; of any age, unless there is a tolerance in seconds. */
    public static function verifyReturn(
        string $url, #[\SensitiveParameter] string $secret, ?int $tolerance = null, ?int $now = null,
    ): Type\ConnectReturn {
        $given = array_fill_keys(['connectStatus', 'accountId', 'externalId', 'returnTs', 'returnSig'], []);
        foreach (explode('&', explode('?', explode('#', $url)[0], 2)[1] ?? '') as $pair) {
            [$name, $value] = array_map(urldecode(...), explode('=', $pair, 2)) + [1 => ''];
            $given[$name][] = $value;
        }
        $counts = array_map(count(...), array_slice($given, 0, 5));
        min($counts) > 0 || throw new SignatureException('missing_parameter');
        [$status, $account, $id, $ts, $sig] = array_column(array_slice($given, 0, 5), 0);
        max($counts) === 1 && preg_match('/^\d{1,15}$/D', $ts) && preg_match('/^[0-9a-f]{64}$/D', $sig)
            || throw new SignatureException('malformed_parameter');
        $secret !== '' && hash_equals(hash_hmac('sha256', "return:$status.$account.$ts.$id", $secret), $sig)
            || throw new SignatureException('mismatch');
        abs(($now ?? time()) - (int) $ts) <= ($tolerance ?? INF) || throw new SignatureException('expired');
        $answer = ['status' => $status, 'accountId' => $account, 'externalId' => $id, 'ts' => (int) $ts];
        return Type\ConnectReturn::of((object) ($answer + ['error' => $given['connectError'][0] ?? null]));
    }
}

/** A webhook or a return URL is refused: reason says why, and hint names the likely cause where it can be told. */
final class SignatureException extends \RuntimeException
{
    public function __construct(public readonly string $reason, public readonly ?string $hint = null)
    {
        parent::__construct(rtrim(Words::REASONS[$reason] . ' ' . (Words::HINTS[$hint ?? ''] ?? '')));
    }
}

<?php declare(strict_types=1);

// Runs the cases of sdk/vectors: php vectors.php [--verify] [FILE…]
// With --serve it reads cases from standard input and writes their outcomes, one a line.

namespace PartnerDeposits\Tests;

use PartnerDeposits\{ApiException, Client, Connect, ConnectionException, Pages, SignatureException, Webhook};
use PartnerDeposits\Type\FeedEvent;

require_once __DIR__ . '/../autoload.php';
require_once __DIR__ . '/../../verify/verify.php';

/** The service of a case: it gives the answers that the case has, and keeps the requests. */
final class Script
{
    public array $requests = [];
    public array $waits = [];

    public function __construct(private array $answers) {}

    public function client(array $input): Client
    {
        return new Client('svc_pk_test_vectors', [
            'transport' => $this->answer(...),
            'sleep' => function ($seconds) { $this->waits[] = $seconds; },
            'random' => fn () => $input['random'] ?? 1,
        ]);
    }

    private function answer(string $method, string $url, array $headers, ?string $body): array
    {
        $this->requests[] = [
            'method' => $method,
            'path' => substr($url, strlen('https://api.example.com')),
            'body' => $body === null ? null : json_decode($body, false, 512, JSON_THROW_ON_ERROR),
            'amount' => preg_match('/[{,]"amount":([^",}]+)/', (string) $body, $found) ? $found[1] : null,
            'key' => $headers['Idempotency-Key'] ?? null,
        ];
        $answer = array_shift($this->answers) ?? throw new \UnderflowException("no answer is left for $method $url");
        if (isset($answer['cut'])) {
            throw new ConnectionException('cut');
        }
        $text = $answer['text'] ?? (isset($answer['body']) ? json_encode($answer['body']) : '');
        return [$answer['status'], array_change_key_case($answer['headers'] ?? []), $text];
    }
}

/** Tells what a call gives: {value}, {error} or {refused}. */
function outcome(callable $call): array
{
    try {
        return ['value' => $call()];
    } catch (SignatureException $e) {
        return ['error' => ['reason' => $e->reason, 'hint' => $e->hint]];
    } catch (\InvalidWebhook $e) {
        return ['error' => ['reason' => $e->getMessage()]];
    } catch (ApiException $e) {
        $error = ['status' => $e->status, 'code' => $e->errorCode, 'requestId' => $e->requestId];
        return ['error' => $error + ['message' => $e->getMessage()]];
    } catch (ConnectionException) {
        return ['error' => ['connection' => true]];
    } catch (\InvalidArgumentException) {
        return ['refused' => true];
    }
}

/** Performs a case. */
function perform(string $kind, array $in, bool $verify = false): array
{
    $body = $in['body'] ?? base64_decode($in['bodyBase64'] ?? '');
    $unwrap = $verify ? verify_webhook(...) : Webhook::unwrap(...);
    $clock = ['now' => $in['now'] ?? null];
    return match ($kind) {
        'unwrap' => outcome(fn () => $unwrap($body, $in['headers'], $in['secret'], $in['tolerance'] ?? 300, ...$clock)),
        'connectUrl' => outcome(fn () => Connect::url($in['base'], $in['slug'], $in['secret'], $in['externalId'], $in)),
        'verifyReturn' => outcome(fn () =>
            Connect::verifyReturn($in['url'], $in['secret'], $in['tolerance'] ?? null, ...$clock)),
        'isNewer' => outcome(fn () =>
            Webhook::isNewer(FeedEvent::of(json_decode(json_encode($in['event']))), $in['storedVersion'])),
        'standardSecret' => outcome(fn () => Webhook::standardSecret($in['secret'])),
        'call' => call($in),
    };
}

/** Calls a method of the client: with the answers of the case, or else over the network. */
function call(array $in): array
{
    static $network = null;
    $script = isset($in['answers']) ? new Script($in['answers']) : null;
    $client = $script?->client($in) ?? $network ??= new Client(getenv('API_KEY'), [
        'baseUrl' => getenv('API_URL'),
        'random' => fn () => mt_rand() / mt_getrandmax() * (float) (getenv('RETRY_DELAY') ?: 0.5) / 0.5,
    ]);
    [$resource, $method] = explode('.', $in['call']);
    $options = isset($in['options']) ? ['options' => $in['options']] : [];
    $outcome = outcome(function () use ($client, $resource, $method, $in, $options) {
        $value = $client->$resource->$method(...$in['args'], ...$options);
        $listed = $value instanceof Pages || $value instanceof \Generator;
        return $listed ? take($value, $in['take'] ?? INF) : $value;
    });
    if ($script === null) {
        return $outcome;
    }
    $keys = array_unique(array_column($script->requests, 'key'));
    $uuid = '/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/D';
    $same = count($keys) === 1 && preg_match($uuid, (string) $keys[0]) === 1;
    return $outcome + ['requests' => $script->requests, 'waits' => $script->waits, 'sameKey' => $same];
}

/** Gives the first items, and asks for no other. */
function take(iterable $items, float $count): array
{
    $taken = [];
    foreach ($items as $item) {
        $taken[] = $item;
        if (count($taken) >= $count) {
            break;
        }
    }
    return $taken;
}

/** Tells whether an outcome has all that is wanted. */
function holds(mixed $want, mixed $got): bool
{
    if ($want instanceof \stdClass || is_array($want) && is_array($got) && count($want) === count($got)) {
        $got = (array) $got;
        foreach ((array) $want as $name => $value) {
            if (!holds($value, $got[$name] ?? null)) {
                return false;
            }
        }
        return true;
    }
    return is_int($want) || is_float($want) ? (is_int($got) || is_float($got)) && $want == $got : $want === $got;
}

/**
 * Runs the cases of files.
 * @return array{int, list<string>} how many there were, and what failed
 */
function run(array $files, bool $verify): array
{
    [$count, $failures] = [0, []];
    foreach ($files as $file) {
        $text = file_get_contents($file);
        $wants = json_decode($text, false, 512, JSON_THROW_ON_ERROR);
        foreach (json_decode($text, true) as $i => $case) {
            if ($verify && $case['kind'] !== 'unwrap') {
                continue;
            }
            $count++;
            try {
                $got = json_decode(json_encode(perform($case['kind'], $case['input'], $verify), JSON_THROW_ON_ERROR));
            } catch (\Throwable $e) {
                $got = (object) ['failure' => (string) $e];
            }
            $want = $wants[$i]->want;
            if ($verify) {
                unset($want->error->hint);
            }
            // A case that wants a value of null wants no error in its place.
            $unwanted = array_diff(array_keys((array) $got), array_keys((array) $want));
            if (array_intersect($unwanted, ['error', 'refused', 'failure']) || !holds($want, $got)) {
                $failures[] = $case['name'] . "\n  want " . json_encode($want) . "\n  got  " . json_encode($got);
            }
        }
    }
    return [$count, $failures];
}

if (realpath($_SERVER['SCRIPT_FILENAME']) === __FILE__) {
    set_error_handler(fn (int $level, string $text, string $file, int $line) =>
        throw new \ErrorException($text, 0, $level, $file, $line));
    $arguments = array_slice($argv, 1);
    if (in_array('--serve', $arguments, true)) {
        while (($line = fgets(STDIN)) !== false) {
            $case = json_decode($line, true, 512, JSON_THROW_ON_ERROR);
            echo json_encode(perform($case['kind'], $case['input']), JSON_THROW_ON_ERROR), "\n";
        }
        exit;
    }
    $files = array_values(array_diff($arguments, ['--verify'])) ?: glob(__DIR__ . '/../../vectors/*.json');
    [$count, $failures] = run($files, in_array('--verify', $arguments, true));
    echo implode("\n", [...$failures, "$count cases, " . count($failures) . ' failed']), "\n";
    exit($failures ? 1 : 0);
}

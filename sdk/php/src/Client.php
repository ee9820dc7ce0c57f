<?php declare(strict_types=1);

namespace PartnerDeposits;

/** The partner API. Amounts are decimal strings such as "500.50", or integers of euros. */
final class Client extends Services
{
    /** @internal */
    public readonly array $options;
    private ?\CurlHandle $curl = null;

    /**
     * The timeout is that of an attempt, in seconds. The last three options are for tests.
     * @param array{baseUrl?: string, timeout?: float, retries?: int,
     *     transport?: \Closure, sleep?: \Closure, random?: \Closure} $options
     */
    public function __construct(#[\SensitiveParameter] private readonly string $apiKey, array $options = [])
    {
        $this->options = $options + [
            'baseUrl' => 'https://api.example.com', 'timeout' => 30, 'retries' => 2, 'transport' => $this->send(...),
            'random' => fn () => mt_rand() / mt_getrandmax(), 'sleep' => fn ($seconds) => usleep((int) ($seconds * 1e6)),
        ];
        parent::__construct($this);
    }

    /** @internal Sends a request, again where that is harmless. Without kinds of fields ('money', 'map') it has no body. */
    public function request(
        string $method, string $path, array $ids, array $params, array $options, ?string $type = null,
        string $shape = 'none', bool $keyed = false, ?array $kinds = null,
    ): mixed {
        array_intersect($ids, ['', '.', '..']) && throw new \InvalidArgumentException('An id is empty.');
        $body = $kinds === null ? null : self::body($params, $kinds);
        $query = $kinds === null ? http_build_query($params, '', '&', PHP_QUERY_RFC3986) : '';
        $path = vsprintf($path, array_map(rawurlencode(...), $ids)) . ($query === '' ? '' : "?$query");
        $headers = [
            'x-api-key' => $this->apiKey, 'Accept' => 'application/json', 'Content-Type' => 'application/json',
            'User-Agent' => 'partner-deposits-php/' . self::VERSION . ' php/' . PHP_VERSION,
        ];
        if ($keyed) {
            $uuid = preg_replace('/(.{8})(.{4}).(.{3}).(.{3})(.{12})/', '$1-$2-4$3-a$4-$5', bin2hex(random_bytes(16)));
            $headers['Idempotency-Key'] = $options['idempotencyKey'] ?? $uuid;
        }
        preg_match('/[\r\n]/', implode($headers)) && throw new \InvalidArgumentException('A key has a line end.');
        $send = fn () => ($this->options['transport'])($method, rtrim($this->options['baseUrl'], '/') . $path, $headers,
            $body, (float) ($options['timeout'] ?? $this->options['timeout']));
        for ($attempt = 0;; $attempt++) {
            $status = 0;
            try {
                [$status, $answered, $text] = $send();
                $json = json_decode($text);
                $success = $status >= 200 && $status < 300;
                if ($success && self::isExpected($json, $shape)) {
                    return $type === null ? null : $type::of($shape === 'data' ? $json->data : $json);
                }
                $error = ApiException::of($status, $answered, $success ? null : $json);
            } catch (ConnectionException $error) {}
            // A lost answer might have done its work: a key or an idempotent method makes another attempt harmless.
            $harmless = $keyed || $method !== 'POST';
            $again = in_array($status, [429, 503]) || $harmless && in_array($status, [0, 500, 502, 504])
                || $status === 409 && $error->errorCode === 'idempotency_key_in_use';
            $floor = $error->retryAfter ?? 0;
            $again && $attempt < $this->options['retries'] && $floor <= 60 || throw $error;
            ($this->options['sleep'])(max(($this->options['random'])() * 0.5 * 2 ** $attempt, $floor));
        }
    }

    private static function isExpected(mixed $json, string $shape): bool
    {
        [$data, $more] = [$json->data ?? null, $json->pagination->hasMore ?? null];
        return match ($shape) {
            'none' => true,
            'data' => is_object($data) || is_array($data),
            'page' => is_array($data) && ($more === false || $more && is_string($json->pagination->nextCursor)),
            'whole' => is_object($json),
        };
    }

    private static function body(array $params, array $kinds): string
    {
        foreach ($params as $name => &$value) {
            if (($kinds[$name] ?? '') === 'money') { // goes out with the digits given: a float would change them
                (is_int($value) || is_string($value)) && preg_match('/^(0|[1-9]\d{0,11})(\.\d\d?)?$/D', "$value")
                    || throw new \InvalidArgumentException("$name: must be a decimal string or an integer of euros");
            } else {
                $value = json_encode(isset($kinds[$name]) ? (object) $value : $value, JSON_THROW_ON_ERROR);
            }
            $value = json_encode($name) . ":$value";
        }
        return '{' . implode(',', $params) . '}';
    }

    /** The transport: an attempt with curl, which verifies TLS, follows no redirect and notices a cut answer. */
    private function send(string $method, string $url, #[\SensitiveParameter] array $headers, ?string $body, float $timeout)
    {
        $this->curl ??= curl_init();
        curl_reset($this->curl); // keeps the connection
        curl_setopt_array($this->curl, [
            CURLOPT_URL => $url, CURLOPT_PROTOCOLS => CURLPROTO_HTTP | CURLPROTO_HTTPS, CURLOPT_CUSTOMREQUEST => $method,
            CURLOPT_HTTPHEADER => array_map(fn ($name) => "$name: $headers[$name]", array_keys($headers)),
            CURLOPT_TIMEOUT_MS => (int) ($timeout * 1000), CURLOPT_ENCODING => '', CURLOPT_HEADER => true,
            CURLOPT_RETURNTRANSFER => true,
        ] + ($method === 'GET' ? [] : [CURLOPT_POSTFIELDS => $body ?? '']));
        $answer = curl_exec($this->curl);
        $answer === false && throw new ConnectionException('No whole answer: ' . curl_error($this->curl));
        $size = curl_getinfo($this->curl, CURLINFO_HEADER_SIZE);
        preg_match_all('/^([^:\r\n]+):[ \t]*(.*?)\s*$/m', substr($answer, 0, $size), $lines);
        $answered = array_combine(array_map(strtolower(...), $lines[1]), $lines[2]);
        return [curl_getinfo($this->curl, CURLINFO_RESPONSE_CODE), $answered, substr($answer, $size)];
    }
}

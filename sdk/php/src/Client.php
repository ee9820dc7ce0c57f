<?php declare(strict_types=1);

namespace PartnerDeposits;

/** The partner API. Amounts are decimal strings such as "500.50", or integers of euros. */
final class Client extends Services
{
    /** @internal */
    public readonly array $options;
    private ?\CurlHandle $curl = null;

    /**
     * The timeout is that of an attempt, in seconds. For tests: random, sleep, and transport in place of send.
     * @param array{baseUrl?: string, timeout?: float, retries?: int, transport?: \Closure, sleep?: \Closure,
     *     random?: \Closure} $options
     */
    public function __construct(#[\SensitiveParameter] private readonly string $apiKey, array $options = [])
    {
        $this->options = $options + [
            'baseUrl' => 'https://api.example.com', 'timeout' => 30, 'retries' => 2, 'transport' => $this->send(...),
            'sleep' => fn ($time) => usleep((int) ($time * 1e6)), 'random' => fn () => mt_rand() / mt_getrandmax(),
        ];
        parent::__construct($this);
    }

    /** Keeps the API key out of dumps. */
    public function __debugInfo(): array
    {
        return ['baseUrl' => $this->options['baseUrl']];
    }

    /** @internal Sends a request, again where that is harmless. The params are its query, or with kinds its body. */
    public function request(
        string $method, string $path, array $ids, array $params, array $options, ?string $type = null,
        string $shape = 'none', bool $keyed = false, ?array $kinds = null,
    ): mixed {
        array_intersect($ids, ['', '.', '..']) && throw new \InvalidArgumentException('An id is empty.');
        $body = $kinds === null ? null : self::body($params, $kinds);
        $asked = $body !== null ? [] : array_map(fn ($v) => is_array($v) ? implode(',', $v) : $v, $params);
        $query = http_build_query($asked, '', '&', PHP_QUERY_RFC3986);
        $path = vsprintf($path, array_map(rawurlencode(...), $ids));
        $url = rtrim($this->options['baseUrl'], '/') . rtrim("$path?$query", '?');
        $headers = [
            'x-api-key' => $this->apiKey, 'Accept' => 'application/json', 'Content-Type' => 'application/json',
            'User-Agent' => 'partner-deposits-php/' . self::VERSION . ' php/' . PHP_VERSION,
        ];
        if ($keyed) {
            $uuid = preg_replace('/(.{8})(.{4}).(.{3}).(.{3})(.+)/', '$1-$2-4$3-a$4-$5', bin2hex(random_bytes(16)));
            $headers['Idempotency-Key'] = $options['idempotencyKey'] ?? $uuid;
        }
        preg_match('/[\r\n]/', implode($headers)) && throw new \InvalidArgumentException('A key has a line end.');
        $timeout = (float) ($options['timeout'] ?? $this->options['timeout']);
        for ($attempt = 0;; $attempt++) {
            $status = 0;
            try {
                [$status, $answered, $text] = ($this->options['transport'])($method, $url, $headers, $body, $timeout);
                $json = json_decode($text);
                [$data, $more] = [$json->data ?? null, $json->pagination->hasMore ?? null];
                $success = $status >= 200 && $status < 300;
                if ($success && match ($shape) {
                    'none' => true,
                    'data' => is_object($data) || is_array($data),
                    'page' => is_array($data) && ($more === false || $more && is_string($json->pagination->nextCursor)),
                    'whole' => is_object($json),
                }) {
                    return $type === null ? null : $type::of($shape === 'data' ? $data : $json);
                }
                $error = ApiException::of($status, $answered, $success ? null : $json->error ?? null);
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

    private static function body(array $params, array $kinds): string
    {
        foreach ($params as $name => &$value) {
            $digits = is_int($value) || is_string($value) ? (string) $value : '';
            if (($kinds[$name] ?? '') !== 'money') {
                $value = json_encode(isset($kinds[$name]) ? (object) $value : $value, JSON_THROW_ON_ERROR);
            } elseif (!preg_match('/^(0|[1-9]\d{0,11})(\.\d\d?)?$/D', $digits)) {
                throw new \InvalidArgumentException("$name: must be a decimal string or an integer of euros");
            } // else the digits go out as they came, since a float would change them
            $value = json_encode($name) . ":$value";
        }
        return '{' . implode(',', $params) . '}';
    }

    /** The transport: an attempt with curl, which verifies TLS, follows no redirect and notices a cut answer. */
    private function send(string $method, string $url, #[\SensitiveParameter] $headers, ?string $body, $timeout): array
    {
        $this->curl ??= curl_init();
        curl_reset($this->curl); // keeps the connection
        curl_setopt_array($this->curl, [
            CURLOPT_URL => $url, CURLOPT_CUSTOMREQUEST => $method, CURLOPT_TIMEOUT_MS => (int) ($timeout * 1000),
            CURLOPT_HTTPHEADER => array_map(fn ($name) => "$name: $headers[$name]", array_keys($headers)),
            CURLOPT_ENCODING => '', CURLOPT_HEADER => true, CURLOPT_RETURNTRANSFER => true,
        ] + ($method === 'GET' ? [] : [CURLOPT_POSTFIELDS => $body ?? '']));
        $answer = curl_exec($this->curl);
        $answer !== false || throw new ConnectionException('No whole answer: ' . curl_error($this->curl));
        $size = curl_getinfo($this->curl, CURLINFO_HEADER_SIZE);
        preg_match_all('/^([^:\r\n]+):[ \t]*(.*?)\s*$/m', substr($answer, 0, $size), $lines);
        $answered = array_combine(array_map(strtolower(...), $lines[1]), $lines[2]);
        return [curl_getinfo($this->curl, CURLINFO_RESPONSE_CODE), $answered, substr($answer, $size)];
    }
}

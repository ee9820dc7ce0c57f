<?php declare(strict_types=1);

namespace PartnerDeposits;

/** The partner API. Amounts are decimal strings such as "500.50", or integers of euros. */
final class Client extends Services
{
    /** @internal */ public readonly array $options;
    private static array $idle = []; // curl of each process, while no call uses it: a fork must not share connections
    private static ?\WeakMap $keys = null; // the API key of each client, where no dump shows it

    /**
     * The timeout is that of an attempt, in seconds. For tests: random, sleep, and transport in place of send.
     * @param array{baseUrl?: string, timeout?: float, retries?: int, transport?: \Closure, sleep?: \Closure,
     *     random?: \Closure} $options
     */
    public function __construct(#[\SensitiveParameter] string $apiKey, array $options = [])
    {
        (self::$keys ??= new \WeakMap())->offsetSet($this, $apiKey);
        $this->options = $options + [
            'baseUrl' => 'https://api.example.com', 'timeout' => 30, 'retries' => 2, 'transport' => $this->send(...),
            'sleep' => fn ($time) => usleep((int) ($time * 1e6)), 'random' => fn () => mt_rand() / mt_getrandmax(),
        ];
        parent::__construct($this);
    }

    /** @internal Sends a request, again where that is harmless. The params are its query, or with kinds its body. */
    public function request(
        string $method, string $path, array $ids, array $params, array $options, ?string $type = null,
        string $shape = 'none', bool $keyed = false, ?array $kinds = null,
    ): mixed {
        array_intersect($ids, ['', '.', '..']) && throw new \InvalidArgumentException('An id is empty.');
        [$body, $asked] = $kinds === null ? [null, self::plain($params, true)] : [self::body($params, $kinds), []];
        $asked = array_map(fn ($v) => is_array($v) ? implode(',', $v) : $v, $asked);
        $query = rtrim('?' . http_build_query($asked, '', '&', PHP_QUERY_RFC3986), '?');
        $url = rtrim($this->options['baseUrl'], '/') . vsprintf($path, array_map(rawurlencode(...), $ids)) . $query;
        $headers = [
            'x-api-key' => self::$keys[$this], 'Accept' => 'application/json', 'Content-Type' => 'application/json',
            'User-Agent' => 'partner-deposits-php/' . self::VERSION . ' php/' . PHP_VERSION,
        ];
        $uuid = preg_replace('/(.{8})(.{4}).(.{3}).(.{3})(.+)/', '$1-$2-4$3-a$4-$5', bin2hex(random_bytes(16)));
        $given = trim($options['idempotencyKey'] ?? ''); // curl drops a header that is empty
        $headers += $keyed ? ['Idempotency-Key' => $given === '' ? $uuid : $given] : [];
        preg_match('/[\0\r\n]/', implode($headers)) && throw new \InvalidArgumentException('A key has a line end.');
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
                    'page' => is_array($data)
                        && ($more === false || $more && is_string($json->pagination->nextCursor ?? null)),
                    'whole' => is_object($json),
                }) {
                    return $type === null ? null : $type::of($shape === 'data' ? $data : $json);
                }
                $error = ApiException::of($status, $answered, $success ? null : $json->error ?? null);
            } catch (ConnectionException $error) {}
            // A lost answer might have done its work: a key or an idempotent method makes another attempt harmless.
            $again = in_array($status, $keyed || $method !== 'POST' ? [0, 429, 500, 502, 503, 504] : [429])
                || $status === 409 && $error->errorCode === 'idempotency_key_in_use';
            $floor = $error->retryAfter ?? 0;
            $again && $attempt < $this->options['retries'] && $floor <= 60 || throw $error;
            ($this->options['sleep'])(max(($this->options['random'])() * 0.5 * 2 ** $attempt, $floor));
        }
    }

    private static function body(array $params, array $kinds): string
    {
        json_encode($params = self::plain($params)) || throw new \InvalidArgumentException(json_last_error_msg());
        foreach ($params as $name => &$value) {
            $money = ($kinds[$name] ?? '') === 'money';
            $digits = is_int($value) || is_string($value) ? (string) $value : '';
            $money && !preg_match('/^(0|[1-9]\d{0,11})(\.\d\d?)?$/D', $digits)
                && throw new \InvalidArgumentException("$name: must be a decimal string or an integer of euros");
            // The digits go out as they came, since a float would change them.
            $text = $money ? $digits : json_encode(isset($kinds[$name]) ? (object) $value : $value);
            $value = json_encode("$name") . ":$text";
        }
        return '{' . implode(',', $params) . '}';
    }

    /** Writes times in UTC, at any depth. A query takes no other object and no float. */
    private static function plain(mixed $v, bool $query = false): mixed
    {
        return match (true) {
            $v instanceof \DateTimeInterface => gmdate('Y-m-d\TH:i:s', $v->getTimestamp()) . $v->format('.v\Z'),
            is_array($v) => array_map(fn ($each) => self::plain($each, $query), $v),
            $query && (is_object($v) || is_float($v)) => throw new \InvalidArgumentException('query: float or object'),
            $v instanceof \stdClass, $v instanceof \ArrayObject => (object) self::plain((array) $v, $query),
            default => $v,
        };
    }

    /** The transport: an attempt with curl, which verifies TLS, follows no redirect and notices a cut answer. */
    private function send(string $method, string $url, #[\SensitiveParameter] $headers, ?string $body, $timeout): array
    {
        $pid = getmypid();
        [$curl, self::$idle[$pid]] = [self::$idle[$pid] ?? curl_init(), null];
        curl_reset($curl); // keeps the connection
        curl_setopt_array($curl, [
            CURLOPT_URL => $url, CURLOPT_CUSTOMREQUEST => $method, CURLOPT_TIMEOUT_MS => (int) ($timeout * 1000),
            CURLOPT_HTTPHEADER => array_map(fn ($name) => "$name: $headers[$name]", array_keys($headers)),
            CURLOPT_ENCODING => '', CURLOPT_HEADER => true, CURLOPT_RETURNTRANSFER => true,
            CURLOPT_FRESH_CONNECT => $method === 'POST' && !isset($headers['Idempotency-Key']), // else curl may resend
        ] + ($method === 'GET' ? [] : [CURLOPT_POSTFIELDS => $body ?? '']));
        $answer = curl_exec($curl);
        $head = substr((string) $answer, 0, curl_getinfo($curl, CURLINFO_HEADER_SIZE)); // cut, it is no error of curl
        str_ends_with($head, "\n\r\n") || throw new ConnectionException('No answer: ' . (curl_error($curl) ?: 'cut'));
        self::$idle[$pid] = $curl;
        preg_match_all('/^([^:\r\n]+):[ \t]*(.*?)\s*$/m', $head, $lines);
        $answered = array_combine(array_map(strtolower(...), $lines[1]), $lines[2]);
        return [curl_getinfo($curl, CURLINFO_RESPONSE_CODE), $answered, substr($answer, strlen($head))];
    }
}

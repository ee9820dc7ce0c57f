<?php declare(strict_types=1);

namespace PartnerDeposits;

/** A JSON object of an answer: $d->id and $d['id'] are the same, and a field that is absent reads as null. */
class ApiObject extends \ArrayObject
{
    protected const TYPES = []; // the classes of fields that hold an object or a list of objects

    /** @internal Makes an object of this class of what json_decode gave, or of each where that is a list. */
    public static function of(mixed $value): mixed
    {
        if (!$value instanceof \stdClass) {
            return is_array($value) ? array_map(static::of(...), $value) : $value;
        }
        foreach ($value as $name => $field) {
            $value->$name = (static::TYPES[$name] ?? self::class)::of($field);
        }
        if (isset($value->amount) && is_int($cents = $value->amountCents ?? null)) { // not through a float
            $value->amount = substr_replace(sprintf($cents < 0 ? '%04d' : '%03d', $cents), '.', -2, 0);
        }
        return new static((array) $value, self::ARRAY_AS_PROPS);
    }

    public function offsetGet(mixed $key): mixed
    {
        return $this->offsetExists($key) ? parent::offsetGet($key) : null;
    }
}

/**
 * The items of all pages of a list. A page is asked for when the items before it are consumed.
 * @template T
 * @implements \IteratorAggregate<int, T>
 */
final class Pages implements \IteratorAggregate
{
    public function __construct(private readonly \Closure $fetch) {}

    /** Gives one page, the first or that of a cursor: data, and pagination with hasMore and nextCursor. */
    public function page(?string $cursor = null): ApiObject
    {
        return ($this->fetch)($cursor === null ? [] : ['cursor' => $cursor]);
    }

    public function getIterator(): \Generator
    {
        do {
            $page = $this->page($page->pagination->nextCursor ?? null);
            foreach ($page->data as $item) {
                yield $item;
            }
        } while ($page->pagination->hasMore);
    }
}

trait EnsuresWebhook
{
    /**
     * Gives the subscription with this URL, with these events if they are given, or creates it: then it has a secret.
     * @param ?list<string> $events
     */
    public function ensure(string $url, ?array $events = null): Type\Webhook|Type\CreatedWebhook
    {
        $wanted = $events === null ? [] : ['events' => $events];
        foreach ($this->list() as $webhook) {
            if ($webhook->url === $url) {
                $differs = $wanted && (array_diff($events, $webhook->events) || array_diff($webhook->events, $events));
                return $differs ? $this->update($webhook->id, $wanted) : $webhook;
            }
        }
        return $this->create(['url' => $url] + $wanted);
    }
}

trait FollowsFeed
{
    /**
     * Gives the events after a number, without end unless waitSeconds is 0. Keep sequence and feedId of the last event
     * that you have processed, to start there again. After the error feed_changed start without them.
     * @param array{feedId?: string, waitSeconds?: int, limit?: int} $options
     * @return \Generator<int, Type\FeedEvent>
     */
    public function follow(?int $after = null, array $options = []): \Generator
    {
        [$feedId, $wait] = [$options['feedId'] ?? null, $options['waitSeconds'] ?? 25];
        do {
            $params = ['after' => $after, 'limit' => $options['limit'] ?? null, 'waitSeconds' => $wait];
            $feed = $this->feed($params, ['timeout' => max($this->client->options['timeout'], $wait + 10)]);
            is_array($feed->data) && is_int($feed->nextAfter) || throw ApiException::of(200, [], null);
            $feedId ??= $feed->feedId;
            $feed->feedId === $feedId || throw new ApiException(200, 'feed_changed', "This is not $feedId any more.");
            foreach ($feed->data as $event) {
                $event->feedId = $feedId;
                yield $event;
            }
            $after = $feed->nextAfter;
        } while ($wait > 0 || $feed->data);
    }
}

/** The service refused a request. Program against errorCode, and quote requestId to support. */
final class ApiException extends \RuntimeException
{
    public function __construct(
        public readonly int $status, public readonly string $errorCode, string $message,
        public readonly string $requestId = '', public readonly ?int $retryAfter = null,
    ) {
        parent::__construct($message);
    }

    /** @internal */
    public static function of(int $status, array $headers, mixed $error): self
    {
        $known = is_string($error->code ?? null) && is_string($error->message ?? null);
        $message = $known ? $error->message : "The answer with the status $status is not the JSON expected.";
        $id = is_string($error->requestId ?? null) ? $error->requestId : $headers['x-request-id'] ?? '';
        $wait = preg_match('/^\d+$/D', $headers['retry-after'] ?? '') ? (int) $headers['retry-after'] : null;
        return new self($status, $known ? $error->code : 'unreadable_answer', $message, $id, $wait);
    }
}

/** No whole answer came, in any attempt. Whether the last request took effect is not known. */
final class ConnectionException extends \RuntimeException {}

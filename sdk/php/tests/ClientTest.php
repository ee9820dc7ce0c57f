<?php declare(strict_types=1);

namespace PartnerDeposits\Tests;

use PartnerDeposits\{ApiException, Client, ConnectionException, Type};
use PHPUnit\Framework\TestCase;

require_once __DIR__ . '/Process.php';

/** What the vectors cannot tell: the network, types and traces. */
final class ClientTest extends TestCase
{
    private const KEY = 'svc_pk_test_q1W2e3R4t5Y6u7I8o9P0a1S2d3F4k3J9';

    private static ?Process $server = null;
    private static string $address;
    private array $waits = [];

    public static function setUpBeforeClass(): void
    {
        self::$server = new Process([PHP_BINARY, __DIR__ . '/server.php']);
        self::$address = self::$server->line(1, ':');
    }

    public static function tearDownAfterClass(): void
    {
        self::$server = null;
    }

    private function client(string $behaviour, array $options = []): Client
    {
        return new Client(self::KEY, $options + [
            'baseUrl' => 'http://' . self::$address . "/$behaviour/",
            'sleep' => function ($seconds) { $this->waits[] = $seconds; },
        ]);
    }

    /** A client that gets the answers given, and notes what the transport was given. */
    private static function scripted(array &$calls, array ...$answers): Client
    {
        return new Client(self::KEY, ['transport' => function (...$call) use (&$calls, &$answers) {
            $calls[] = $call;
            return array_shift($answers);
        }]);
    }

    public function testRequestNamesKeyLibraryAndVersions(): void
    {
        $sent = $this->client('echo')->deposits->get('dep 1');
        self::assertSame(['GET', ''], [$sent->method, $sent->body]);
        self::assertSame('/echo/api/partner/v1/deposits/dep%201', $sent->target);
        self::assertSame(self::KEY, $sent->headers['x-api-key']);
        self::assertSame('application/json', $sent->headers->accept);
        self::assertSame('partner-deposits-php/1.0.0 php/' . PHP_VERSION, $sent->headers['user-agent']);
    }

    public function testBodyGoesOutByteForByte(): void
    {
        $params = ['amount' => '500.50', 'metadata' => [], 'rentalContract' => 'é/"', 'depositUrlGeneration' => true];
        $key = '7f1e4a52-9c3b-4d68-8a17-2b5c9e0d4f63';
        $sent = $this->client('echo')->deposits->create($params, ['idempotencyKey' => $key]);
        self::assertSame(
            '{"amount":500.50,"metadata":{},"rentalContract":"\u00e9\/\"","depositUrlGeneration":true}',
            $sent->body,
        );
        self::assertSame('application/json', $sent->headers['content-type']);
        self::assertSame($key, $sent->headers['idempotency-key']);
    }

    public function testPostWithoutParamsHasNoBody(): void
    {
        $sent = $this->client('echo')->deposits->release('dep_1');
        self::assertSame(['POST', '', '0'], [$sent->method, $sent->body, $sent->headers['content-length']]);
        self::assertSame('application/json', $sent->headers['content-type']);
        self::assertMatchesRegularExpression('/^[0-9a-f-]{36}$/', $sent->headers['idempotency-key']);
    }

    public function testMetadataOfAnAnswerCanBeSentAgain(): void
    {
        $metadata = Type\Deposit::of(json_decode('{"metadata":{}}'))->metadata;
        $sent = $this->client('echo')->deposits->create(['metadata' => $metadata]);
        self::assertSame('{"metadata":{}}', $sent->body);
    }

    public function testConnectionIsUsedAgain(): void
    {
        $client = $this->client('echo');
        $first = $client->me->get()->connection;
        self::assertSame($first, $client->deposits->release('dep_1')->connection);
    }

    public function testConnectionOutlivesTheClient(): void
    {
        $first = $this->client('echo')->me->get()->connection;
        self::assertSame($first, $this->client('echo')->me->get()->connection);
    }

    public function testClientsSideBySideKeepTheirAddressAndTimeout(): void
    {
        $here = $this->client('echo');
        $other = str_replace('127.0.0.1', 'http://localhost', self::$address) . '/echo';
        $there = $this->client('echo', ['baseUrl' => $other]);
        $slow = $this->client('silent', ['retries' => 0, 'timeout' => 0.05]);
        foreach ([1, 2] as $round) {
            try {
                $slow->me->get();
                self::fail('it does not end');
            } catch (ConnectionException $e) {
                // its own timeout, and not the 30 s of the others: a busy machine adds to the 50 ms
                self::assertMatchesRegularExpression('/timed out after \d{2,4} m/', $e->getMessage());
            }
            self::assertSame(self::$address, $here->me->get()->headers->host);
            self::assertStringStartsWith('localhost:', $there->me->get()->headers->host);
        }
    }

    public function testPostWithoutKeyIsSentOnceThoughAKeptConnectionIsClosed(): void
    {
        $client = $this->client('unposted');
        $before = $client->me->get()->requests;
        try {
            $client->webhooks->rotateSecret('w');
            self::fail('it is answered');
        } catch (ConnectionException) {
            self::assertSame($before + 2, $client->me->get()->requests);
        }
    }

    public function testChildOfAForkHasAConnectionOfItsOwn(): void
    {
        $fork = new Process([PHP_BINARY, __DIR__ . '/fork.php', 'http://' . self::$address . '/echo']);
        [$parent, $child, $again] = explode(' ', $fork->line(1, ' '));
        self::assertSame($parent, $again);
        self::assertNotSame($parent, $child);
    }

    public function testTimesGoOutInUtcWithMilliseconds(): void
    {
        $time = new \DateTimeImmutable('2027-08-01T00:30:00.1239+02:00');
        $wire = '2027-07-31T22:30:00.123Z';
        $params = ['contractStartAt' => $time, 'metadata' => ['at' => $time], 'clientId' => (object) ['at' => [$time]]];
        self::assertSame(
            ['contractStartAt' => $wire, 'metadata' => ['at' => $wire], 'clientId' => ['at' => [$wire]]],
            json_decode($this->client('echo')->deposits->create($params)->body, true),
        );
        $calls = [];
        $page = [200, [], '{"data":[],"pagination":{"hasMore":false}}'];
        $between = ['createdFrom' => $time, 'createdTo' => new \DateTime('@0')];
        self::scripted($calls, $page)->deposits->list($between)->page();
        $query = '?createdFrom=' . rawurlencode($wire) . '&createdTo=1970-01-01T00%3A00%3A00.000Z';
        self::assertSame($query, strrchr($calls[0][1], '?'));
    }

    public function testParamsOfTheCallerStayAsTheyAre(): void
    {
        $params = ['amount' => '5', 'contractStartAt' => new \DateTimeImmutable('@0')];
        foreach ($params as &$each) { // the last one stays a reference
        }
        $this->client('echo')->deposits->create($params);
        self::assertInstanceOf(\DateTimeImmutable::class, $params['contractStartAt']);
    }

    public function testKeyOfWhiteSpaceCountsAsNone(): void
    {
        $sent = $this->client('echo')->deposits->release('d', [], ['idempotencyKey' => ' ']);
        self::assertMatchesRegularExpression('/^[0-9a-f-]{36}$/', $sent->headers['idempotency-key']);
    }

    public function testPageThatHasMoreWithoutACursorIsUnreadable(): void
    {
        $calls = [];
        $client = self::scripted($calls, [200, [], '{"data":[],"pagination":{"hasMore":true}}']);
        $this->expectException(ApiException::class);
        $this->expectExceptionMessage('is not the JSON expected');
        $client->deposits->list()->page();
    }

    public function testNoDumpOfAClientShowsTheApiKey(): void
    {
        $client = $this->client('echo');
        $client->me->get();
        ob_start();
        var_dump($client);
        $dumps = ob_get_clean() . print_r($client, true) . @var_export($client, true) . print_r((array) $client, true);
        self::assertStringContainsString(self::$address, $dumps);
        self::assertStringNotContainsString(self::KEY, $dumps);
    }

    public function testCompressedAnswerIsRead(): void
    {
        self::assertSame('GET', $this->client('gzip')->me->get()->method);
    }

    public function cuts(): array
    {
        return ['short of its length' => ['cut'], 'within its head' => ['head'], 'without its last chunk' => ['chunk']];
    }

    /** @dataProvider cuts */
    public function testCutAnswerIsAConnectionErrorAfterThreeAttempts(string $behaviour): void
    {
        try {
            $this->client($behaviour, ['random' => fn () => 1.0])->me->get();
            self::fail('the cut is not noticed');
        } catch (ConnectionException $e) {
            self::assertMatchesRegularExpression('/transfer closed|: cut$/', $e->getMessage());
            self::assertSame([0.5, 1.0], $this->waits);
        }
    }

    public function testRedirectIsAnErrorAndIsNotFollowed(): void
    {
        try {
            $this->client('redirect')->me->get();
            self::fail('it is followed');
        } catch (ApiException $e) {
            self::assertSame([302, 'unreadable_answer'], [$e->status, $e->errorCode]);
        }
    }

    public function testAttemptEndsWithItsTimeout(): void
    {
        $this->expectException(ConnectionException::class);
        $this->expectExceptionMessage('timed out');
        $this->client('silent', ['retries' => 0])->me->get(['timeout' => 0.05]);
    }

    public function testServiceThatIsAwayIsAConnectionError(): void
    {
        $socket = stream_socket_server('tcp://127.0.0.1:0');
        $address = stream_socket_get_name($socket, false);
        fclose($socket);
        $this->expectException(ConnectionException::class);
        $this->client('', ['baseUrl' => "http://$address"])->me->get();
    }

    public function testFollowerWaitsLongerThanTheService(): void
    {
        $calls = [];
        $answer = '{"data":[{"sequence":1}],"nextAfter":1,"feedId":"feed_1"}';
        $client = self::scripted($calls, [200, [], $answer], [200, [], str_replace('{"sequence":1}', '', $answer)]);
        $events = iterator_to_array($client->events->follow(null, ['waitSeconds' => 0]));
        self::assertInstanceOf(Type\FeedEvent::class, $events[0]);
        self::assertSame([1, 'feed_1', 30.0], [$events[0]->sequence, $events[0]->feedId, $calls[0][4]]);
        $client = self::scripted($calls, [200, [], $answer]);
        self::assertSame(1, $client->events->follow(0)->current()->sequence);
        self::assertSame(35.0, $calls[2][4]);
    }

    public function testListGivesOnePageToo(): void
    {
        $calls = [];
        $page = '{"data":[{"id":"dep_1"}],"pagination":{"nextCursor":"c","hasMore":true}}';
        $list = self::scripted($calls, [200, [], $page], [200, [], $page])->deposits->list(['limit' => 1]);
        self::assertSame(['dep_1', 'c'], [$list->page()->data[0]->id, $list->page('c')->pagination->nextCursor]);
        $first = self::scripted($calls, [200, [], $page])->deposits->list()->page();
        self::assertInstanceOf(Type\DepositPage::class, $first);
        $paths = array_map(fn ($call) => strrchr($call[1], '?'), $calls);
        self::assertSame(['?limit=1', '?limit=1&cursor=c', false], $paths);
    }

    public function testItemsOfAllPagesAreCountedOn(): void
    {
        $calls = [];
        $page = '{"data":[{"id":"a"},{"id":"b"}],"pagination":{"nextCursor":"c","hasMore":true}}';
        $client = self::scripted($calls, [200, [], $page], [200, [], str_replace('true', 'false', $page)]);
        self::assertSame([0, 1, 2, 3], array_keys(iterator_to_array($client->deposits->list())));
    }

    public function testErrorHasRetryAfter(): void
    {
        $calls = [];
        $answer = [429, ['retry-after' => '61'], '{"error":{"code":"rate_limited","message":"m","requestId":"r"}}'];
        try {
            self::scripted($calls, $answer)->me->get();
            self::fail('it is taken');
        } catch (ApiException $e) {
            self::assertSame([429, 'rate_limited', 'm'], [$e->status, $e->errorCode, $e->getMessage()]);
            self::assertSame(['r', 61], [$e->requestId, $e->retryAfter]);
        }
    }

    public function refusals(): array
    {
        return [
            'an empty id, which would be a list' => [fn (Client $c) => $c->deposits->get('')],
            'an id that leads elsewhere' => [fn (Client $c) => $c->webhooks->get('..')],
            'a key with a second header' => [
                fn (Client $c) => $c->deposits->release('d', [], ['idempotencyKey' => "x\r\ny: z"]),
            ],
            'a key with a NUL, where curl would end it' => [
                fn (Client $c) => $c->deposits->release('d', [], ['idempotencyKey' => "x\0y"]),
            ],
            'a float in a query' => [fn (Client $c) => $c->deposits->list(['limit' => 1.5])->page()],
            'an object in a query' => [fn (Client $c) => $c->deposits->list(['status' => [(object) []]])->page()],
            'a text that is not UTF-8' => [fn (Client $c) => $c->deposits->capture('d', ['reason' => "\xff"])],
            'metadata that are not UTF-8' => [fn (Client $c) => $c->deposits->create(['metadata' => ['a' => "\xff"]])],
            'a name that is not UTF-8' => [fn (Client $c) => $c->deposits->create(["\xff" => 'a'])],
        ];
    }

    /** @dataProvider refusals */
    public function testCallIsRefusedBeforeAnyRequest(callable $call): void
    {
        $calls = [];
        try {
            $call(self::scripted($calls));
            self::fail('it is taken');
        } catch (\InvalidArgumentException) {
            self::assertSame([], $calls);
        }
    }

    public function testNoErrorHoldsTheApiKey(): void
    {
        ini_set('zend.exception_ignore_args', '0');
        foreach (['cut', 'redirect'] as $behaviour) {
            try {
                $this->client($behaviour, ['retries' => 0])->deposits->create(['amount' => 500]);
                self::fail('it is taken');
            } catch (ApiException | ConnectionException $e) {
                $arguments = array_merge(...array_map(fn ($frame) => $frame['args'] ?? [], $e->getTrace()));
                $told = array_filter($arguments, fn ($argument) => !is_object($argument));
                self::assertStringNotContainsString(self::KEY, $e . print_r($told, true));
            }
        }
    }
}

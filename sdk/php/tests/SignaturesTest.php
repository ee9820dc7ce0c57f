<?php declare(strict_types=1);

namespace PartnerDeposits\Tests;

use PartnerDeposits\{Connect, SignatureException, Type, Webhook, Words};
use PHPUnit\Framework\TestCase;

final class SignaturesTest extends TestCase
{
    private const SECRET = 'svc_whsec_q1w2e3r4t5y6u7i8o9p0a1s2d3f4g5h6j7k8l9z0';
    private const CONNECT = 'svc_cs_m5n6b7v8c9x0z1l2k3j4h5g6f7d8s9a0';
    private const BODY = '{"event":"deposit.activated","createdAt":"2026-06-02T11:20:09.512Z","data":{"id":"dep_1"}}';

    private static function sign(string $body, ?int $time = null): array
    {
        $time ??= time();
        return [$time, 'sha256=' . hash_hmac('sha256', "$time.$body", self::SECRET)];
    }

    private static function refusal(callable $call): SignatureException
    {
        try {
            $call();
        } catch (SignatureException $e) {
            return $e;
        }
        self::fail('it is taken');
    }

    public function testServerVariablesAreTakenForHeaders(): void
    {
        [$time, $signature] = self::sign(self::BODY);
        $server = ['HTTP_X_SVC_TIMESTAMP' => $time, 'HTTP_X_SVC_SIGNATURE' => $signature, 'argv' => []];
        $event = Webhook::unwrap(self::BODY, $server, self::SECRET);
        self::assertInstanceOf(Type\WebhookEvent::class, $event);
        self::assertSame(['deposit.activated', 'dep_1'], [$event->event, $event->data->id]);
    }

    public function testHeadersMayBeAnyIterable(): void
    {
        [$time, $signature] = self::sign(self::BODY);
        $list = ['x-svc-timestamp' => [(string) $time], 'x-svc-signature' => [$signature], 7 => 'x'];
        $headers = new \ArrayIterator($list);
        self::assertSame('dep_1', Webhook::unwrap(self::BODY, $headers, self::SECRET)->data->id);
    }

    public function testTheClockIsTheServersUnlessGiven(): void
    {
        [$time, $signature] = self::sign(self::BODY, 1780391667);
        $headers = ['X-Svc-Timestamp' => (string) $time, 'X-Svc-Signature' => $signature];
        self::assertSame('dep_1', Webhook::unwrap(self::BODY, $headers, self::SECRET, now: $time)->data->id);
        $refusal = self::refusal(fn () => Webhook::unwrap(self::BODY, $headers, self::SECRET));
        self::assertSame('expired', $refusal->reason);
    }

    public function testLargeBodiesAreLookedThrough(): void
    {
        [$time, $signature] = self::sign(self::BODY);
        $headers = ['X-Svc-Timestamp' => (string) $time, 'X-Svc-Signature' => $signature];
        $text = str_repeat('é\"\u003c ', 400_000);
        foreach (['' => null, ' ' => 'body_reserialized'] as $space => $hint) {
            $body = '{"event":"' . $text . '","list":[' . str_repeat("\"a\",$space", 50_000) . '1]}';
            self::assertSame($hint, self::refusal(fn () => Webhook::unwrap($body, $headers, self::SECRET))->hint);
        }
    }

    public function testMessageNamesReasonAndRemedy(): void
    {
        $missing = new SignatureException('missing_header');
        self::assertSame('X-Svc-Signature or X-Svc-Timestamp is missing.', $missing->getMessage());
        self::assertSame(
            'The signature does not match. The body was parsed and written again: pass the raw body.',
            (new SignatureException('mismatch', 'body_reserialized'))->getMessage(),
        );
        self::assertCount(7, Words::REASONS);
        self::assertCount(11, Words::HINTS);
    }

    public function testConnectUrlHasTheTimeOfNow(): void
    {
        $before = time();
        parse_str(parse_url(Connect::url('https://d.example', 'acme', self::CONNECT, 'x 1'), PHP_URL_QUERY), $query);
        self::assertGreaterThanOrEqual($before, (int) $query['ts']);
        self::assertSame(hash_hmac('sha256', "acme.x 1.{$query['ts']}", self::CONNECT), $query['sig']);
    }

    public function testReturnHasItsType(): void
    {
        $sig = hash_hmac('sha256', 'return:linked.acct_1.17.x', self::CONNECT);
        $url = "/back?connectStatus=linked&accountId=acct_1&externalId=x&returnTs=17&returnSig=$sig";
        $return = Connect::verifyReturn($url, self::CONNECT);
        self::assertInstanceOf(Type\ConnectReturn::class, $return);
        self::assertSame(['linked', 'acct_1'], [$return->status, $return->accountId]);
        self::assertSame(['x', 17], [$return->externalId, $return->ts]);
    }

    public function testNoErrorHoldsASecret(): void
    {
        ini_set('zend.exception_ignore_args', '0');
        $headers = ['X-Svc-Timestamp' => '1', 'X-Svc-Signature' => 'sha256=' . str_repeat('a', 64)];
        $calls = [
            fn () => Webhook::unwrap('x', $headers, self::SECRET),
            fn () => Connect::verifyReturn('/back', self::CONNECT),
            fn () => Connect::url('https://d.example', 'NO', self::CONNECT, 'x'),
            fn () => Webhook::standardSecret(self::CONNECT),
        ];
        foreach ($calls as $i => $call) {
            try {
                $call();
                self::fail("call $i is taken");
            } catch (SignatureException | \InvalidArgumentException $e) {
                self::assertStringNotContainsString('svc_whsec_q1w', $e . print_r($e->getTrace()[0], true));
                self::assertStringNotContainsString('svc_cs_m5', $e . print_r($e->getTrace()[0], true));
            }
        }
    }
}

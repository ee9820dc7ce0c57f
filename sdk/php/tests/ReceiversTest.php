<?php declare(strict_types=1);

namespace PartnerDeposits\Tests;

use PHPUnit\Framework\TestCase;

require_once __DIR__ . '/Process.php';

/** Webhooks over HTTP, through a framework. */
final class ReceiversTest extends TestCase
{
    private const SECRET = 'svc_whsec_q1w2e3r4t5y6u7i8o9p0a1s2d3f4g5h6j7k8l9z0';

    public function receivers(): array
    {
        return ['Symfony' => ['symfony.php'], 'Laravel' => ['laravel.php'], 'plain PHP' => ['plain.php']];
    }

    /** @dataProvider receivers */
    public function testReceiverVerifiesTheRawBody(string $file): void
    {
        $socket = stream_socket_server('tcp://127.0.0.1:0');
        $address = stream_socket_get_name($socket, false);
        fclose($socket);
        $command = [PHP_BINARY, '-S', $address, __DIR__ . "/$file"];
        $receiver = new Process($command, ['WEBHOOK_SECRET' => self::SECRET] + getenv());
        $receiver->line(2, 'started');

        $body = '{"event":"deposit.activated","createdAt":"2026-06-02T11:20:09.512Z","data":{"name":"Zo\u003cé"}}';
        self::assertSame([204, ''], self::post($address, $body, $body));
        self::assertSame('verified deposit.activated', $receiver->line(2, 'verified'));
        self::assertSame([400, 'mismatch'], self::post($address, json_encode(json_decode($body)), $body));
    }

    /** @return array{int, string} status and body of the answer to a webhook with the signature of another body */
    private static function post(string $address, string $body, string $signed): array
    {
        $time = time();
        $curl = curl_init("http://$address/hooks/deposits");
        curl_setopt_array($curl, [CURLOPT_POSTFIELDS => $body, CURLOPT_RETURNTRANSFER => true, CURLOPT_HTTPHEADER => [
            'Content-Type: application/json',
            "X-Svc-Timestamp: $time",
            'X-Svc-Signature: sha256=' . hash_hmac('sha256', "$time.$signed", self::SECRET),
        ]]);
        $text = curl_exec($curl);
        return [curl_getinfo($curl, CURLINFO_RESPONSE_CODE), $text];
    }
}

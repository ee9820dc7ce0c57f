<?php declare(strict_types=1);

namespace PartnerDeposits\Tests;

use PHPUnit\Framework\TestCase;

final class VectorsTest extends TestCase
{
    private const FILES = __DIR__ . '/../../vectors/*.json';

    public function files(): iterable
    {
        foreach (glob(self::FILES) as $file) {
            yield basename($file) => [$file];
        }
    }

    /** @dataProvider files */
    public function testLibraryGivesWhatTheCasesWant(string $file): void
    {
        [$count, $failures] = run([$file], false);
        self::assertGreaterThan(0, $count);
        self::assertSame('', implode("\n", $failures));
    }

    public function testFileToCopyGivesTheReasonsThatTheCasesWant(): void
    {
        [$count, $failures] = run(glob(self::FILES), true);
        self::assertGreaterThan(100, $count);
        self::assertSame('', implode("\n", $failures));
    }

    public function changes(): array
    {
        $error = ['error' => ['reason' => 'mismatch', 'hint' => null]];
        return [
            'another value' => ['standard.json', 0, ['value' => 'whsec_other']],
            'a refusal in place of a value' => ['standard.json', 0, ['refused' => true]],
            'a reason in place of an event' => ['unwrap.json', 0, $error],
            'nothing in place of an error' => ['errors.json', 0, ['value' => null]],
            'another field of an event' => ['unwrap.json', 0, ['value' => ['event' => 'deposit.expired']]],
            'a list of another length' => ['pages.json', 0, ['value' => []]],
            'another wait' => ['retries.json', 0, ['waits' => [0.25]]],
        ];
    }

    /** @dataProvider changes */
    public function testChangedCaseFails(string $file, int $case, array $want): void
    {
        $cases = json_decode(file_get_contents(dirname(self::FILES) . "/$file"));
        $cases[$case]->want = $want;
        $changed = tempnam(sys_get_temp_dir(), 'vectors');
        file_put_contents($changed, json_encode([$cases[$case]]));
        exec(PHP_BINARY . ' ' . __DIR__ . "/vectors.php $changed", $lines, $code);
        unlink($changed);
        self::assertSame([1, '1 cases, 1 failed'], [$code, end($lines)]);
    }

    public function testServeAnswersCasesOneALine(): void
    {
        $case = ['kind' => 'standardSecret', 'input' => ['secret' => 'short']];
        $serve = PHP_BINARY . ' ' . __DIR__ . '/vectors.php --serve';
        exec('echo ' . escapeshellarg(json_encode($case)) . " | $serve", $lines);
        self::assertSame(['{"refused":true}'], $lines);
    }
}

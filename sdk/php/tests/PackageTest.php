<?php declare(strict_types=1);

namespace PartnerDeposits\Tests;

use PartnerDeposits\Client;
use PHPUnit\Framework\TestCase;

final class PackageTest extends TestCase
{
    public function testEveryFileIsStrictPhp(): void
    {
        $files = [...glob(__DIR__ . '/../{,src/,tests/}*.php', GLOB_BRACE), __DIR__ . '/../../verify/verify.php'];
        foreach (array_diff($files, [__DIR__ . '/../tests/readme.prelude.php']) as $file) {
            exec(PHP_BINARY . ' -l ' . escapeshellarg($file) . ' 2>&1', $lines, $code);
            self::assertSame(0, $code, implode("\n", $lines));
            self::assertStringContainsString('declare(strict_types=1);', file_get_contents($file), $file);
        }
    }

    public function testVersionIsThatOfAllLibraries(): void
    {
        $version = trim(file_get_contents(__DIR__ . '/../../VERSION'));
        $composer = json_decode(file_get_contents(__DIR__ . '/../composer.json'));
        self::assertSame([$version, $version], [Client::VERSION, $composer->version]);
    }

    public function testComposerInstallsTheFolderWithoutTheNetwork(): void
    {
        $app = sys_get_temp_dir() . '/partner-deposits-' . bin2hex(random_bytes(8));
        mkdir($app);
        file_put_contents("$app/composer.json", json_encode([
            'repositories' => [
                ['type' => 'path', 'url' => dirname(__DIR__), 'options' => ['symlink' => false]],
                ['packagist.org' => false],
            ],
            'require' => ['partner-deposits/php' => '^1.0'],
        ]));
        $use = 'require "vendor/autoload.php"; echo get_class((new PartnerDeposits\Client("k"))->deposits),'
            . ' (new PartnerDeposits\SignatureException("expired"))->reason;';
        $install = "COMPOSER_HOME=$app/home composer install --no-interaction --quiet 2>&1";
        exec("cd $app && $install && " . PHP_BINARY . " -r '$use'; rm -r $app", $lines);
        self::assertSame('PartnerDeposits\Service\Depositsexpired', implode("\n", $lines));
    }
}

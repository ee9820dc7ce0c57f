<?php declare(strict_types=1);

// A receiver in Laravel, with Debian's packages: WEBHOOK_SECRET=… php -S 127.0.0.1:8099 laravel.php

use Illuminate\Foundation\Application;
use Illuminate\Foundation\Bus\Dispatchable;
use Illuminate\Http\{Request, Response};
use Illuminate\Support\Facades\Route;
use PartnerDeposits\SignatureException;
use PartnerDeposits\Webhook;

error_reporting(E_ALL & ~E_DEPRECATED); // this Laravel is older than PHP 8.2
require __DIR__ . '/../autoload.php';
require '/usr/share/php/Illuminate/autoload.php';

final class ReceiveDepositEvent
{
    use Dispatchable;

    public function __construct(private string $body) {}

    public function handle(): void
    {
        file_put_contents('php://stderr', 'verified ' . json_decode($this->body)->event . "\n");
    }
}

$app = new Application(sys_get_temp_dir());
$app->instance('config', new Illuminate\Config\Repository([
    'view' => ['paths' => []],
    'services' => ['deposits' => ['webhook_secret' => getenv('WEBHOOK_SECRET')]],
]));
foreach (['Bus\BusServiceProvider', 'Filesystem\FilesystemServiceProvider', 'View\ViewServiceProvider'] as $provider) {
    $app->register("Illuminate\\$provider");
}
Illuminate\Support\Facades\Facade::setFacadeApplication($app);

Route::post('/hooks/deposits', function (Request $request) {
    try {
        $secret = config('services.deposits.webhook_secret');
        $event = Webhook::unwrap($request->getContent(), $request->headers->all(), $secret);
    } catch (SignatureException $e) {
        abort(400, $e->reason);
    }
    ReceiveDepositEvent::dispatch($request->getContent()); // your job
    return response()->noContent();
});

try {
    $app->instance('request', Request::capture());
    Route::dispatch($app['request'])->send();
} catch (Symfony\Component\HttpKernel\Exception\HttpException $e) {
    (new Response($e->getMessage(), $e->getStatusCode()))->send();
}

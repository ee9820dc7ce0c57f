<?php declare(strict_types=1);

// A receiver in Symfony, with Debian's packages: WEBHOOK_SECRET=… php -S 127.0.0.1:8099 symfony.php

use PartnerDeposits\SignatureException;
use PartnerDeposits\Webhook;
use Symfony\Component\EventDispatcher\EventDispatcher;
use Symfony\Component\HttpFoundation\{Request, RequestStack, Response};
use Symfony\Component\HttpKernel\Controller\ControllerResolver;
use Symfony\Component\HttpKernel\EventListener\RouterListener;
use Symfony\Component\HttpKernel\HttpKernel;
use Symfony\Component\Routing\Matcher\UrlMatcher;
use Symfony\Component\Routing\{RequestContext, Route, RouteCollection};

require __DIR__ . '/../autoload.php';
require '/usr/share/php/Symfony/Component/HttpKernel/autoload.php';
require '/usr/share/php/Symfony/Component/Routing/autoload.php';

final class DepositHooks
{
    #[Route('/hooks/deposits', methods: ['POST'])]
    public function receive(Request $request): Response
    {
        try {
            $event = Webhook::unwrap($request->getContent(), $request->headers->all(), getenv('WEBHOOK_SECRET'));
        } catch (SignatureException $e) {
            return new Response($e->reason, 400);
        }
        file_put_contents('php://stderr', "verified $event->event\n"); // record the event, then answer
        return new Response(status: 204);
    }
}

$routes = new RouteCollection();
$route = new Route('/hooks/deposits', ['_controller' => [DepositHooks::class, 'receive']], methods: 'POST');
$routes->add('hooks', $route);
$dispatcher = new EventDispatcher();
$dispatcher->addSubscriber(new RouterListener(new UrlMatcher($routes, new RequestContext()), new RequestStack()));
$kernel = new HttpKernel($dispatcher, new ControllerResolver());
$request = Request::createFromGlobals();
try {
    $response = $kernel->handle($request);
} catch (Symfony\Component\HttpKernel\Exception\HttpException $e) {
    $response = new Response($e->getMessage(), $e->getStatusCode());
}
$response->send();
$kernel->terminate($request, $response);

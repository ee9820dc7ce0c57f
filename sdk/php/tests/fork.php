<?php declare(strict_types=1);

// Calls in a process, in its child and in the process again, and prints their connections: php fork.php URL

use PartnerDeposits\Client;

require __DIR__ . '/../autoload.php';

$client = new Client('svc_pk_test_fork', ['baseUrl' => $argv[1]]);
echo $client->me->get()->connection, ' ';
if (($child = pcntl_fork()) === 0) {
    echo $client->me->get()->connection, ' ';
    exit;
}
pcntl_waitpid($child, $status);
echo $client->me->get()->connection, "\n";

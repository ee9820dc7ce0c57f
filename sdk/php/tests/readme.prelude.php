<?php declare(strict_types=1);

// What the samples of the README use without setting it. They follow this file, as one program.

foreach ([dirname(__DIR__), getcwd(), getcwd() . '/sdk/php'] as $folder) {
    if (is_file("$folder/autoload.php")) {
        require_once "$folder/autoload.php";
    }
}
[$apiKey, $apiUrl, $accountId] = [getenv('API_KEY'), getenv('API_URL'), getenv('ACCOUNT_ID')];
[$rawBody, $headers] = [getenv('WEBHOOK_BODY'), json_decode(getenv('WEBHOOK_HEADERS'), true)];
[$webhookSecret, $connectSecret] = [getenv('WEBHOOK_SECRET'), getenv('CONNECT_SECRET')];
[$dashboard, $slug, $returnUrl] = [getenv('CONNECT_BASE'), getenv('PARTNER_SLUG'), getenv('RETURN_URL')];
$after = null;


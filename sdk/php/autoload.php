<?php declare(strict_types=1);

foreach (['Answers', 'Api.gen', 'Signatures', 'Client'] as $file) {
    require_once __DIR__ . "/src/$file.php";
}

<?php declare(strict_types=1);

foreach (['Answers', 'Signatures', 'Api.gen', 'Client'] as $file) {
    require_once __DIR__ . "/src/$file.php";
}

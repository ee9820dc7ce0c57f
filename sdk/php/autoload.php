<?php declare(strict_types=1);

// Loads the library from a checkout. Composer has a loader of its own.
foreach (['Answers', 'Signatures', 'Api.gen', 'Client'] as $file) {
    require_once __DIR__ . "/src/$file.php";
}

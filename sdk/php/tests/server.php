<?php declare(strict_types=1);

// An HTTP server that misbehaves as the first part of the path asks. It prints its address.

$server = stream_socket_server('tcp://127.0.0.1:0');
$address = stream_socket_get_name($server, false);
echo "$address\n";
$sockets = [$server];
for ($count = 0;;) {
    [$ready, $none] = [$sockets, null];
    stream_select($ready, $none, $none, null);
    foreach ($ready as $connection => $socket) {
        if ($socket === $server) {
            $sockets[++$count] = stream_socket_accept($server);
        } elseif (!answer($socket, $connection, $address)) {
            unset($sockets[$connection]);
            fclose($socket);
        }
    }
}

/** Answers a request, and tells whether another may follow on the connection. */
function answer($socket, int $connection, string $address): bool
{
    if (($line = fgets($socket)) === false) {
        return false;
    }
    static $requests = 0;
    $requests++;
    [$method, $target] = explode(' ', $line);
    $headers = [];
    while (($line = rtrim(fgets($socket))) !== '') {
        [$name, $value] = explode(': ', $line, 2) + [1 => ''];
        $headers[strtolower($name)] = $value;
    }
    $length = (int) ($headers['content-length'] ?? 0);
    $body = $length === 0 ? '' : stream_get_contents($socket, $length);
    $text = json_encode(['data' => compact('method', 'target', 'headers', 'body', 'connection', 'requests')]);
    $gzip = gzencode($text);
    $behaviour = explode('/', $target)[1];
    [$answer, $open] = match ($behaviour === 'unposted' && $method !== 'POST' ? 'echo' : $behaviour) {
        'echo' => ["200 OK\r\nContent-Length: " . strlen($text) . "\r\n\r\n$text", true],
        'gzip' => ["200 OK\r\nContent-Encoding: gzip\r\nContent-Length: " . strlen($gzip) . "\r\n\r\n$gzip", true],
        'cut' => ["200 OK\r\nContent-Length: " . (strlen($text) + 1) . "\r\n\r\n$text", false],
        'head' => ["200 OK\r\nX-Request-Id: req_1", false],
        'chunk' => ["200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" . dechex(strlen($text)) . "\r\n$text\r\n", false],
        'redirect' => ["302 Found\r\nLocation: http://$address/echo\r\nContent-Length: 0\r\n\r\n", true],
        'silent' => ['', true],
        'unposted' => ['', false],
    };
    fwrite($socket, $answer === '' ? '' : "HTTP/1.1 $answer");
    return $open;
}

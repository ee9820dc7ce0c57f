<?php declare(strict_types=1);

namespace PartnerDeposits\Tests;

/** A command that runs beside a test, until the test is over. */
final class Process
{
    /** @var resource */
    private $handle;
    /** @var array<int, resource> */
    private array $pipes = [];

    public function __construct(array $command, ?array $environment = null)
    {
        $this->handle = proc_open($command, [1 => ['pipe', 'w'], 2 => ['pipe', 'w']], $this->pipes, null, $environment);
    }

    /** Waits for a line of standard output (1) or standard error (2) that holds a text. */
    public function line(int $pipe, string $text): string
    {
        while (($line = fgets($this->pipes[$pipe])) !== false) {
            if (str_contains($line, $text)) {
                return trim($line);
            }
        }
        throw new \RuntimeException("The command ended without saying: $text");
    }

    public function __destruct()
    {
        proc_terminate($this->handle, 9);
        proc_close($this->handle);
    }
}

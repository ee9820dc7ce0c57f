<?php declare(strict_types=1);

namespace PartnerDeposits\Tests;

use PartnerDeposits\{ApiObject, Type};
use PHPUnit\Framework\TestCase;

final class AnswersTest extends TestCase
{
    private const JSON = '{"id":"dep_1","amount":500.5,"amountCents":50050,"metadata":{},'
        . '"client":{"email":"a@b.example"},"tags":[],"later":{"0":[{"x":null}]}}';

    private Type\Deposit $deposit;

    protected function setUp(): void
    {
        $this->deposit = Type\Deposit::of(json_decode(self::JSON));
    }

    public function testFieldsAreReadAsPropertiesAndAsKeys(): void
    {
        self::assertSame(['dep_1', 'dep_1'], [$this->deposit->id, $this->deposit['id']]);
        self::assertSame('a@b.example', $this->deposit->client['email']);
        self::assertSame('a@b.example', $this->deposit['client']->email);
    }

    public function testAbsentFieldIsNull(): void
    {
        self::assertNull($this->deposit->depositUrl);
        self::assertNull($this->deposit['depositUrl']);
        self::assertFalse(isset($this->deposit->depositUrl));
        self::assertTrue(isset($this->deposit->client->email));
        self::assertNull($this->deposit->collection?->status);
    }

    public function testObjectsHaveTheirTypes(): void
    {
        self::assertInstanceOf(Type\DepositClient::class, $this->deposit->client);
        self::assertSame(ApiObject::class, get_class($this->deposit->metadata));
        $delivery = Type\Delivery::of(json_decode('{"attempts":[{"number":1}]}'));
        self::assertInstanceOf(Type\DeliveryAttempt::class, $delivery->attempts[0]);
    }

    public function testEncodedAgainObjectsStayObjectsAndListsStayLists(): void
    {
        self::assertSame(str_replace('500.5', '"500.50"', self::JSON), json_encode($this->deposit));
        self::assertSame('{"0":"a","1":"b"}', json_encode(ApiObject::of(json_decode('{"0":"a","1":"b"}'))));
    }

    public function testMoneyIsTextToTheCent(): void
    {
        $texts = ['0.00' => 0, '0.05' => 5, '-0.05' => -5, '-1.50' => -150, '1234567890123.45' => 123456789012345];
        foreach ($texts as $text => $cents) {
            $object = ApiObject::of((object) ['amount' => 1.5, 'amountCents' => $cents]);
            self::assertSame((string) $text, $object->amount);
        }
    }

    public function testObjectsCanBeStoredAndWalkedThrough(): void
    {
        self::assertEquals($this->deposit, unserialize(serialize($this->deposit)));
        self::assertSame(array_keys(json_decode(self::JSON, true)), array_keys(iterator_to_array($this->deposit)));
    }
}

// Package codec converts between Go types and Postgres types, such as id.ID and uuid. A zero value in Go is
// NULL in Postgres, so a NOT NULL column refuses it. Times are read in UTC.
package codec

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"partnerdeposits/core/actor"
	"partnerdeposits/core/id"
)

// RegisterTypes adds the conversions of this package to a connection to Postgres, for each new one of a pool.
func RegisterTypes(_ context.Context, conn *pgx.Conn) error {
	m := conn.TypeMap()
	ids := &pgtype.Type{Name: "uuid", OID: pgtype.UUIDOID, Codec: idCodec{}}
	times := &pgtype.Type{Name: "timestamptz", OID: pgtype.TimestamptzOID,
		Codec: timeCodec{&pgtype.TimestamptzCodec{ScanLocation: time.UTC}}}
	m.RegisterType(ids)
	m.RegisterType(times)
	m.RegisterType(&pgtype.Type{Name: "text", OID: pgtype.TextOID, Codec: textCodec{}})
	m.RegisterType(&pgtype.Type{Name: "_uuid", OID: pgtype.UUIDArrayOID, Codec: &pgtype.ArrayCodec{ElementType: ids}})
	m.RegisterType(
		&pgtype.Type{Name: "_timestamptz", OID: pgtype.TimestamptzArrayOID, Codec: &pgtype.ArrayCodec{ElementType: times}})
	// Default types are registered for the query modes in which pgx does not ask the server for the types of
	// parameters.
	m.RegisterDefaultPgType(id.ID{}, "uuid")
	m.RegisterDefaultPgType([]id.ID{}, "_uuid")
	return nil
}

type idCodec struct{ pgtype.UUIDCodec }

func (c idCodec) PlanEncode(m *pgtype.Map, oid uint32, format int16, value any) pgtype.EncodePlan {
	if _, ok := value.(id.ID); !ok {
		return c.UUIDCodec.PlanEncode(m, oid, format, value)
	}
	if format == pgtype.BinaryFormatCode {
		return encodeID{}
	}
	return encodeIDText{}
}

func (c idCodec) PlanScan(m *pgtype.Map, oid uint32, format int16, target any) pgtype.ScanPlan {
	if _, ok := target.(*id.ID); !ok {
		return c.UUIDCodec.PlanScan(m, oid, format, target)
	}
	if format == pgtype.BinaryFormatCode {
		return scanID{}
	}
	return scanIDText{}
}

type encodeID struct{}

func (encodeID) Encode(value any, buf []byte) ([]byte, error) {
	v := value.(id.ID)
	if v.IsZero() {
		return nil, nil
	}
	return append(buf, v[:]...), nil
}

type encodeIDText struct{}

func (encodeIDText) Encode(value any, buf []byte) ([]byte, error) {
	v := value.(id.ID)
	if v.IsZero() {
		return nil, nil
	}
	return append(buf, v.String()...), nil
}

type scanID struct{}

func (scanID) Scan(src []byte, target any) error {
	dst := target.(*id.ID)
	if src == nil {
		*dst = id.ID{}
		return nil
	}
	if len(src) != len(dst) {
		return errors.New("codec: a uuid must have 16 bytes")
	}
	copy(dst[:], src)
	return nil
}

type scanIDText struct{}

func (scanIDText) Scan(src []byte, target any) error {
	dst := target.(*id.ID)
	if src == nil {
		*dst = id.ID{}
		return nil
	}
	u, err := uuid.ParseBytes(src)
	*dst = id.ID(u)
	return err
}

type timeCodec struct{ *pgtype.TimestamptzCodec }

func (c timeCodec) PlanEncode(m *pgtype.Map, oid uint32, format int16, value any) pgtype.EncodePlan {
	if _, ok := value.(time.Time); !ok {
		return c.TimestamptzCodec.PlanEncode(m, oid, format, value)
	}
	return encodeTime{c.TimestamptzCodec.PlanEncode(m, oid, format, pgtype.Timestamptz{})}
}

func (c timeCodec) PlanScan(m *pgtype.Map, oid uint32, format int16, target any) pgtype.ScanPlan {
	if _, ok := target.(*time.Time); !ok {
		return c.TimestamptzCodec.PlanScan(m, oid, format, target)
	}
	return scanTime{c.TimestamptzCodec.PlanScan(m, oid, format, &pgtype.Timestamptz{})}
}

type encodeTime struct{ plain pgtype.EncodePlan }

func (p encodeTime) Encode(value any, buf []byte) ([]byte, error) {
	t := value.(time.Time)
	if t.IsZero() {
		return nil, nil
	}
	return p.plain.Encode(pgtype.Timestamptz{Time: t, Valid: true}, buf)
}

type scanTime struct{ plain pgtype.ScanPlan }

func (p scanTime) Scan(src []byte, target any) error {
	dst := target.(*time.Time)
	if src == nil {
		*dst = time.Time{}
		return nil
	}
	var t pgtype.Timestamptz
	if err := p.plain.Scan(src, &t); err != nil {
		return err
	}
	if t.InfinityModifier != pgtype.Finite {
		return errors.New("codec: an infinite time has no place in time.Time")
	}
	*dst = t.Time
	return nil
}

type textCodec struct{ pgtype.TextCodec }

func (c textCodec) PlanScan(m *pgtype.Map, oid uint32, format int16, target any) pgtype.ScanPlan {
	if _, ok := target.(*actor.Actor); !ok {
		return c.TextCodec.PlanScan(m, oid, format, target)
	}
	return scanActor{}
}

type scanActor struct{}

func (scanActor) Scan(src []byte, target any) error {
	*target.(*actor.Actor) = actor.Parse(string(src))
	return nil
}

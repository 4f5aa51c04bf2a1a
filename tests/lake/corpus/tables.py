"""The files that the corpus is asked about.

`python -m tests.lake.corpus.tables FOLDER` makes them, under an interpreter that has pyarrow.
"""

import json
import sys
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

FORMATS: Final = {
    "orders": "parquet",
    "customers": "parquet",
    "numbers": "parquet",
    "suppliers": "csv",
    "events": "json",
}
STATUSES: Final = ("open", "done", "open", "void", "done", "open", "done", "open", "held", "done")
NOTES: Final = ("rush", None, "fragile goods", "off 50% now", "rush", None, "물시계 ⏳", "", "Fragile", "rush")
CUSTOMERS: Final = {
    "id": [1, 2, 3, 4, 12],
    "name": ["Ann", "Binh, Tran", "Carl O'Neill", "Đức", "Eve"],
    "country": ["KR", "VN", "DE", "VN", "KR"],
}
SUPPLIERS: Final = """\
id,name,credit,since,active
1,Ann,10.5,2020-01-31,true
2,"Binh, Tran",,2021-02-28,false
3,"Carl ""the clock"" O'Neill",0.25,2019-12-31,true
4,Đức,100.0,,true
"""
ORDERS: Final = pa.schema(
    [
        ("id", pa.int64()),
        ("customer_id", pa.int32()),
        ("amount", pa.decimal128(10, 2)),
        ("weight", pa.float64()),
        ("paid", pa.bool_()),
        ("status", pa.string()),
        ("note", pa.string()),
        ("placed_at", pa.timestamp("us", tz="UTC")),
        ("shipped", pa.date32()),
        ("tags", pa.list_(pa.string())),
        ("attributes", pa.map_(pa.string(), pa.string())),
        ("address", pa.struct([("city", pa.string()), ("zip", pa.string())])),
        ("payload", pa.binary()),
    ]
)


def order(number: int) -> dict[str, object]:
    first = datetime(2024, 2, 27, 22, 15, 30, 250_000, tzinfo=UTC)
    return {
        "id": number,
        "customer_id": None if number == 9 else number % 5,
        "amount": Decimal(number * 1999) / 100,
        "weight": number * 0.75,
        "paid": None if number == 8 else number % 2 == 0,
        "status": STATUSES[number - 1],
        "note": NOTES[number - 1],
        "placed_at": first + timedelta(hours=13 * number),
        "shipped": None if number % 4 == 0 else date(2024, 2, 27) + timedelta(days=number),
        "tags": None if number == 7 else [f"t{n}" for n in range(number % 3)],
        "attributes": {"colour": "red" if number % 2 else "blue", "size": str(number)} if number < 9 else {},
        "address": None if number == 10 else {"city": f"City {number % 3}", "zip": f"{number:05}"},
        "payload": bytes([number, 255]),
    }


def event(number: int) -> dict[str, object]:
    detail = {"score": number / 4, "labels": ["a", "b"][: number % 3]}
    return {"id": number, "kind": "click" if number % 2 else "view", "detail": detail if number != 3 else None}


def write(folder: Path) -> None:
    pq.write_table(pa.Table.from_pylist([order(n) for n in range(1, 11)], schema=ORDERS), folder / "orders.parquet")
    ids = range(1, 1001)
    numbers = {"id": pa.array(ids, pa.int64()), "value": pa.array([n / 8 for n in ids], pa.float64())}
    pq.write_table(pa.table(numbers), folder / "numbers.parquet")
    pq.write_table(pa.table(CUSTOMERS), folder / "customers.parquet")
    (folder / "suppliers.csv").write_text(SUPPLIERS, encoding="utf-8")
    (folder / "events.json").write_text("".join(f"{json.dumps(event(n))}\n" for n in range(1, 7)), encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))

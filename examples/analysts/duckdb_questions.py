"""Runs the statements of questions.sql with DuckDB on the bucket that a service serves.

    pip install duckdb pytz
    python3 duckdb_questions.py 127.0.0.1:8080 basket=i… currency=i… address=R… usd=100 from=2026-11-18 to=2026-11-19 height=900

Prints a line of JSON for each question: its number and its rows. Amounts are whole numbers of 10^-8 coins; USD are exact decimals, as text.
"""

import decimal
import json
import pathlib
import re
import sys

import duckdb

STATEMENTS = pathlib.Path(__file__).with_name("questions.sql").read_text(encoding="utf-8")


def text(value):
    return f"{value:f}" if isinstance(value, decimal.Decimal) else str(value)


def main(host, *words):
    given = dict(word.split("=", 1) for word in words)
    connection = duckdb.connect()
    connection.execute("LOAD httpfs")  # run INSTALL httpfs once before
    for setting in (f"s3_endpoint = '{host}'", "s3_use_ssl = false", "s3_url_style = 'path'", "TimeZone = 'UTC'"):
        connection.execute(f"SET {setting}")

    def value(word):
        name = word.group(1)
        return given.get(name) or f"read_parquet('s3://datasets/{name}/*/*.parquet', hive_partitioning = true)"

    for number, sql in re.findall(r"^-- (\d+)\. [^\n]*\n([^;]*);", STATEMENTS, re.MULTILINE):
        answer = connection.execute(re.sub(r"\$([a-z_]+)", value, sql))
        names = [column[0] for column in answer.description]
        rows = [dict(zip(names, row)) for row in answer.fetchall()]
        print(json.dumps({"question": int(number), "rows": rows}, default=text))


if __name__ == "__main__":
    main(*sys.argv[1:])

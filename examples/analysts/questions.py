"""Eleven questions of analysts, answered with pandas from the data set that a service serves.

    pip install 'pandas[parquet]'
    python3 questions.py http://127.0.0.1:8080 basket=i… currency=i… address=R… usd=100 from=2026-11-18 to=2026-11-19 height=900

Prints a line of JSON for each question: its number and its rows. Amounts are whole numbers of 10^-8 coins; USD are exact decimals, as text.
"""

import decimal
import json
import sys
import urllib.request

import pandas as pd


def table(host, name, columns=None):
    """Returns all rows of a table; the manifest lists its files."""
    with urllib.request.urlopen(f"{host}/api/datasets/{name}.json") as answer:
        files = json.load(answer)
    if not files:
        raise SystemExit(f"{name} has no rows yet")
    # Keeps nullable integers as integers.
    read = {"columns": columns, "dtype_backend": "numpy_nullable"}
    return pd.concat([pd.read_parquet(file["url"], **read) for file in files], ignore_index=True)


def questions(host, basket, currency, address, usd, since, until, height):
    conversions = table(host, "conversions")
    completed = conversions[conversions.status == "completed"]
    trades = completed[completed.kind.isin(["convert", "via"])]
    deltas = table(host, "balance_deltas")
    deltas["balance"] = deltas.received - deltas.sent
    until_then = deltas[deltas.height <= height]
    pair = ["from_currency_id", "to_currency_id"]
    place = ["height", "txid", "vout"]

    # 1. Conversions above an amount of USD that a basket executed in a span of time
    large = conversions.basket_id.eq(basket) & conversions.usd_value.gt(usd) & conversions.time.ge(since)
    yield 1, conversions[large & conversions.time.lt(until)].sort_values(place)[["txid", "vout", "height", "usd_value"]]

    # 2. Volume of each pair by day
    by_day = trades.assign(day=trades.time.dt.strftime("%Y-%m-%d")).groupby(["day", *pair], as_index=False)
    yield 2, by_day.agg(trades=("txid", "size"), usd=("usd_value", "sum"))

    # 3. The largest holders of a currency at a height
    held = until_then[until_then.currency_id == currency].groupby("address", as_index=False).balance.sum()
    yield 3, held[held.balance > 0].sort_values(["balance", "address"], ascending=[False, True]).head(20)

    # 4. Balance of an address at a height
    own = until_then[until_then.address == address].groupby("currency_id", as_index=False).balance.sum()
    yield 4, own[own.balance != 0]

    # 5. The ten largest conversions
    valued = conversions[conversions.usd_value.notna()]
    largest = valued.sort_values(["usd_value", "txid", "vout"], ascending=[False, True, True])
    yield 5, largest.head(10)[["txid", "vout", "usd_value"]]

    # 6. The conversions of an address by currency pair: amounts given and received, with their USD values at the time
    sums = {"given": "amount_in", "got": "amount_out", "given_usd": "from_usd", "got_usd": "to_usd"}
    of_address = completed[completed.source == address].groupby(pair, as_index=False, dropna=False)
    yield 6, of_address.agg(**{name: (column, "sum") for name, column in sums.items()})

    # 7. Stamps whose sides disagree by more than 10 %
    diverged = conversions[conversions.diverged].sort_values(place)
    yield 7, diverged[["txid", "vout", "from_usd", "to_usd", "usd_value", "rule"]]

    # 8. USD sums of the served generation and of the other one, by regime
    regimes = conversions.groupby(["regime", "other_regime"], as_index=False, dropna=False)
    yield 8, regimes.agg(n=("txid", "size"), usd=("usd_value", "sum"), other_usd=("other_usd_value", "sum"))

    # 9. The block at a time, by the clock that never goes back
    blocks = table(host, "blocks", ["height", "clock"])
    yield 9, blocks[blocks.clock <= until][["height"]].max().to_frame().T

    # 10. Prices of a currency, the last of each hour
    prices = table(host, "prices", ["currency_id", "height", "time", "usd_price"])
    prices = prices[prices.currency_id == currency].sort_values("height")
    yield 10, prices.assign(hour=prices.time.dt.strftime("%Y-%m-%d %H")).groupby("hour", as_index=False).usd_price.last()

    # 11. Fees of a basket
    fees = completed[completed.basket_id == basket].groupby("from_currency_id", as_index=False, dropna=False)
    yield 11, fees.agg(fees=("conversion_fee", "sum"))


def text(value):
    return f"{value:f}" if isinstance(value, decimal.Decimal) else str(value)


def main(host, *words):
    given = dict(word.split("=", 1) for word in words)
    answers = questions(
        host,
        basket=given["basket"],
        currency=given["currency"],
        address=given["address"],
        usd=int(given["usd"]),
        since=pd.Timestamp(given["from"], tz="UTC"),
        until=pd.Timestamp(given["to"], tz="UTC"),
        height=int(given["height"]),
    )
    for number, rows in answers:
        rows = rows.astype(object).where(rows.notna(), None).to_dict("records")
        print(json.dumps({"question": number, "rows": rows}, default=text))


if __name__ == "__main__":
    main(*sys.argv[1:])

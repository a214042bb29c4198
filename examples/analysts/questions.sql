-- Eleven questions of analysts, for DuckDB. Run against a service of yours, with the httpfs extension:
--   SET s3_endpoint = '127.0.0.1:8080'; SET s3_use_ssl = false; SET s3_url_style = 'path';
-- `$table` stands for read_parquet('s3://datasets/<table>/*/*.parquet', hive_partitioning = true); other words with $ are yours to choose.

-- 1. Conversions above an amount of USD that a basket executed in a span of time
SELECT txid, vout, height, time, from_currency_id, to_currency_id, amount_in / 1e8 AS amount_in, amount_out / 1e8 AS amount_out, usd_value
FROM $conversions WHERE basket_id = '$basket' AND usd_value > $usd AND time >= '$from' AND time < '$to' ORDER BY height, txid, vout;

-- 2. Volume of each pair by day
SELECT (time AT TIME ZONE 'UTC')::DATE AS day, from_currency_id, to_currency_id, count(*) AS trades, sum(usd_value) AS usd
FROM $conversions WHERE status = 'completed' AND kind IN ('convert', 'via') GROUP BY ALL ORDER BY ALL;

-- 3. The largest holders of a currency at a height
SELECT address, sum(received - sent) AS balance FROM $balance_deltas
WHERE currency_id = '$currency' AND height <= $height GROUP BY address HAVING balance > 0 ORDER BY balance DESC, address LIMIT 20;

-- 4. Balance of an address at a height
SELECT currency_id, sum(received - sent) AS balance FROM $balance_deltas
WHERE address = '$address' AND height <= $height GROUP BY currency_id HAVING balance <> 0 ORDER BY currency_id;

-- 5. The ten largest conversions
SELECT txid, vout, usd_value FROM $conversions WHERE usd_value IS NOT NULL ORDER BY usd_value DESC, txid, vout LIMIT 10;

-- 6. What an address converted, by currency: given and got, with the USD of that moment
SELECT from_currency_id, to_currency_id, sum(amount_in) AS given, sum(amount_out) AS got, sum(from_usd) AS given_usd, sum(to_usd) AS got_usd
FROM $conversions WHERE source = '$address' AND status = 'completed' GROUP BY ALL ORDER BY ALL;

-- 7. Stamps whose sides disagree by more than 10 %
SELECT txid, vout, from_usd, to_usd, usd_value, rule FROM $conversions WHERE diverged ORDER BY height, txid, vout;

-- 8. The served generation against the other, by regime
SELECT regime, other_regime, count(*) AS n, sum(usd_value) AS usd, sum(other_usd_value) AS other_usd FROM $conversions GROUP BY ALL ORDER BY ALL;

-- 9. The block at a time, by the clock that never steps back
SELECT max(height) AS height FROM $blocks WHERE clock <= '$to';

-- 10. Prices of a currency, the last of each hour
SELECT date_trunc('hour', time) AS hour, arg_max(usd_price, height) AS usd_price FROM $prices
WHERE currency_id = '$currency' GROUP BY hour ORDER BY hour;

-- 11. Fees of a basket
SELECT from_currency_id, sum(conversion_fee) AS fees FROM $conversions WHERE basket_id = '$basket' AND status = 'completed' GROUP BY ALL ORDER BY ALL;

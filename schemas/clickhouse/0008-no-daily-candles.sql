-- No answer read them: docs/decisions/0134-no-daily-candles.md
DROP TABLE IF EXISTS daily_candles;

-- Days that were rolled up before there were candles are rolled up again.
DELETE FROM rolled_days;

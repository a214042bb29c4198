/** The text of docs/data.md, made from the tables that the export writes. A test compares the page with it. */
import type { DatasetColumn } from '../../../schemas/datasets/column.ts';
import { DATASET_SCHEMA_VERSION } from '../../../schemas/datasets/manifest.ts';
import type { DatasetTable } from '../../../schemas/datasets/table.ts';
import { DATASET_TABLES } from '../../../schemas/datasets/tables.ts';

const HEAD = `# The data set

<!-- Made from schemas/datasets/: \`npm test -- schemas/datasets -u\` writes this page. -->

The data set contains all history as Parquet files, one for each table, chain and UTC day, for DuckDB, ClickHouse, pandas, Spark and every other reader of Parquet. The service keeps the files
up to date and serves them as plain files. Reading them costs no credits and runs no query; it only uses bandwidth (\`datasets.bytesPerHour\` of [the configuration](configuration.md)).

- **Allowance.** Each request is charged before its work, whatever its answer is. The index, a listing or a manifest counts as at least 256 kB, even for HEAD. A request for a file counts as 4 kB, and a part of a file that is sent as at least 16 kB. Larger answers
  count with their size. With the default of 2 GB, a network may request about 7,800 listings or 120,000 parts of files an hour. Each process that runs \`serve\` counts by itself, so divide the setting by the number of processes.
- **Rate.** A process serves at most 10 MiB and 70 files or ranges a second to all readers together, so that other answers do not wait behind them. Networks take turns. The service disconnects a reader that takes less than 16 kB/s, averaged over 30 s in which
  the service waits for it.

## Reading it
\`/api/datasets/\` lists the tables. \`/api/datasets/<table>.json\` is the manifest of a table, with the address of each file. With DuckDB:
\`\`\`sql
SET VARIABLE files = (SELECT list(url) FROM read_json('http://127.0.0.1:8080/api/datasets/conversions.json'));
SELECT from_currency_id, count(*), sum(usd_value) FROM read_parquet(getvariable('files')) GROUP BY ALL;
\`\`\`
No engine expands \`*\` over plain HTTP, so the service also serves the same folder as an S3 bucket named \`datasets\`: anonymous, read-only, in path style (ListObjects in both versions, GetObject, HeadObject):
\`\`\`sql
SET s3_endpoint = '127.0.0.1:8080'; SET s3_use_ssl = false; SET s3_url_style = 'path';
SELECT chain, count(*) FROM read_parquet('s3://datasets/conversions/*/*.parquet', hive_partitioning = true) GROUP BY chain;
\`\`\`
With pandas: \`pandas.concat(pandas.read_parquet(file['url']) for file in requests.get(f'{host}/api/datasets/conversions.json').json())\`. Files support range requests, HEAD,
\`If-None-Match\` and \`If-Range\`. Behind a proxy with TLS, the operator must set \`datasets.url\`, so that manifests contain \`https\` addresses.

\`verustream export <folder>\` and \`verustream export s3://bucket/prefix\` write the same files elsewhere: [commands](commands.md#export).
With \`--from 2026-05-01 --to 2026-06-01\` an empty destination receives only the files of May.

[examples/analysts](../examples/analysts/) answers eleven questions of analysts: [questions.sql](../examples/analysts/questions.sql) in SQL of DuckDB, which [duckdb_questions.py](../examples/analysts/duckdb_questions.py)
runs, and [questions.py](../examples/analysts/questions.py) with pandas. Tests compare their answers, and those of the API, with plain sums over the stores.

## Files and manifests
| member of a manifest's entry | meaning |
|---|---|
| \`table\`, \`chain\`, \`day\` | the content of the file: the rows of the blocks of one chain whose clock (the greatest block time up to the block) is in that UTC day. These blocks are consecutive, so a file covers a range of heights. The time of a row may be on an earlier day |
| \`closed\` | whether the day is closed: no rewind can reach it, and no price or conversion in it is provisional. The rows of a closed day change only when blocks are derived again (\`dead-letters redrive\`) or when another generation is served |
| \`rows\`, \`minHeight\`, \`maxHeight\` | number of rows, and their lowest and highest height |
| \`fromHeight\`, \`toHeight\` | range of blocks that the file covers completely |
| \`generation\` | served generation of the prices; null for tables without a generation |
| \`schemaVersion\` | ${DATASET_SCHEMA_VERSION}; rises when a column is removed or changes its meaning or type, not when a column is added |
| \`bytes\`, \`sha256\`, \`path\`, \`url\` | size, hash, path in the folder and address of the file |

- The bytes under a name never change, because the name contains the hash of the file. A day that changes gets a new file, and then the manifest names the new file. The old file stays
  for an hour, for readers of the old manifest.
- A manifest is replaced atomically once all files that it names exist. It never mixes two generations. A day without rows has no file.
- The service writes the open days again after a rewind, the days from a redrive's first block on after a redrive, and all days of prices and conversions after a swap of generations. It checks for changes every
  \`datasets.refreshSeconds\`, so a manifest lags by at most that time plus the time for writing.
- \`s3://datasets/…\` lists the files that the manifests name. In a bucket that \`verustream export\` writes, old files are removed right after the manifest is replaced, so read the manifests there.

## Values
- Amounts are integers in units of 10^-8 coins (satoshis). USD values are decimals with 18 places.
- Times are timestamps in UTC. Hashes are hexadecimal. Currencies and identities are i-addresses; the table \`currencies\` has the names of currencies.
- \`chain\` is in the path (\`chain=…\`) and in each row.
`;

const SQL = `
## SQL
\`verustream sql "SELECT …"\` queries the currently served data in ClickHouse, embedded or by URL: [commands](commands.md#sql). Each table is a view \`v_<table>\` with the columns below.
Data that only Postgres has is copied for each statement that names it, at some hundred thousand rows a second. This applies to the tables marked below, and to the columns \`priced_currency_id\`,
\`priced_currency_usd\`, \`price_basket\`, \`price_height\` and \`regime_version\` of \`v_conversions\` (\`*\` includes them).
\`\`\`
npm run verustream -- sql "SELECT toDate(time) AS day, count() AS n, sum(usd_value) AS usd FROM v_conversions WHERE status = 'completed' GROUP BY day ORDER BY day" --format table
\`\`\`
To let analysts log in to ClickHouse directly, use the user of [analysts.xml](../infra/deploy/clickhouse/analysts.xml): it is read-only, with limits on time, memory, rows and
statements an hour. Its password and profile were tested on ClickHouse 18.16, which supports neither \`grants\` in such a file nor \`use_query_condition_cache\`. The whole file was not tested on a current server.

## Tables
`;

export function dataPage(): string {
  return `${HEAD}${SQL}${DATASET_TABLES.map(tableText).join('\n')}`;
}

function tableText({ name, summary, final, columns, order, store }: DatasetTable): string {
  const rows = columns.map(columnText).join('\n');
  return `### ${name}
${summary} View: \`v_${name}\`${store === 'postgres' ? ', copied from Postgres for each statement that names it' : ''}. Rows are ordered by \`${order.join('`, `')}\`. Final: ${final.charAt(0).toLowerCase()}${final.slice(1)}

| column | type | unit | meaning |
|---|---|---|---|
${rows}
`;
}

function columnText({ name, type, unit, text }: DatasetColumn): string {
  return `| \`${name}\` | ${type.replaceAll('|', '\\|')} | ${unit ?? ''} | ${text} |`;
}

/** The text of docs/data.md, made from the tables that the export writes. A test compares the page with it. */
import type { DatasetColumn } from './column.ts';
import { DATASET_SCHEMA_VERSION } from './manifest.ts';
import type { DatasetTable } from './table.ts';
import { DATASET_TABLES } from './tables.ts';

const HEAD = `# The data set

<!-- Made from schemas/datasets/: \`npm test -- schemas/datasets -u\` writes this page. -->

All history as Parquet files, one for each table, chain and UTC day: for DuckDB, ClickHouse, pandas, Spark, and whatever else reads Parquet. The service keeps the files
up to date and serves them as files: reading them costs no credits and no query, only bandwidth (\`datasets.bytesPerHour\` of [the configuration](configuration.md)). All readers together get at most 10 MiB and 70 files or ranges a second
from a process, so that other answers do not wait behind them. Several processes that serve count the allowance each by itself: divide it by their number.

Each request takes from the allowance before its work, whatever its answer is: the index, a listing or a manifest 256 kB at least, also for HEAD; a file 4 kB, and a part that is sent 16 kB at least. Larger answers
take what they have. With the default of 2 GB a network may ask for some 7,800 listings or 120,000 parts of files an hour. Networks have the rate in turns. A reader that takes less than 16 kB/s, averaged over 30 s in which
the service waits for it, is disconnected.

## Reading it
\`/api/datasets/\` lists the tables; \`/api/datasets/<table>.json\` is the manifest of a table, with the address of each file. With DuckDB:
\`\`\`sql
SET VARIABLE files = (SELECT list(url) FROM read_json('http://127.0.0.1:8080/api/datasets/conversions.json'));
SELECT from_currency_id, count(*), sum(usd_value) FROM read_parquet(getvariable('files')) GROUP BY ALL;
\`\`\`
The same folder is an S3 bucket named \`datasets\`, anonymous, read-only, in path style (ListObjects in both versions, GetObject, HeadObject), because no engine expands \`*\` over plain HTTP:
\`\`\`sql
SET s3_endpoint = '127.0.0.1:8080'; SET s3_use_ssl = false; SET s3_url_style = 'path';
SELECT chain, count(*) FROM read_parquet('s3://datasets/conversions/*/*.parquet', hive_partitioning = true) GROUP BY chain;
\`\`\`
With pandas: \`pandas.concat(pandas.read_parquet(file['url']) for file in requests.get(f'{host}/api/datasets/conversions.json').json())\`. Files answer range requests, HEAD,
\`If-None-Match\` and \`If-Range\`. Behind a proxy with TLS the operator sets \`datasets.url\`, so that manifests name \`https\` addresses.

\`verustream export <folder>\` and \`verustream export s3://bucket/prefix\` write the same files elsewhere: [commands](commands.md#export).

[examples/analysts](../examples/analysts/) answers eleven questions of analysts: [questions.sql](../examples/analysts/questions.sql) in SQL of DuckDB, which [duckdb_questions.py](../examples/analysts/duckdb_questions.py)
runs, and [questions.py](../examples/analysts/questions.py) with pandas. Tests compare all of them, and the API, with plain sums over the stores.

## Files and manifests
| member of a manifest's entry | meaning |
|---|---|
| \`table\`, \`chain\`, \`day\` | what the file holds: the rows of the blocks of one chain whose clock (the greatest block time up to the block) is in that UTC day. These blocks follow each other, so a file covers a range of heights; the time of a row may be of a day before |
| \`closed\` | whether the day is closed: no rewind can reach it, and for prices and conversions no value of it is provisional. The rows of a closed day change only when blocks are derived again (\`dead-letters redrive\`) or another generation is served |
| \`rows\`, \`minHeight\`, \`maxHeight\` | number of rows, and their least and greatest height |
| \`fromHeight\`, \`toHeight\` | the blocks of which the file has every row |
| \`generation\` | served generation of the prices; null for tables without any |
| \`schemaVersion\` | ${DATASET_SCHEMA_VERSION}; rises when a column is removed or changes its meaning or type, not when one is added |
| \`bytes\`, \`sha256\`, \`path\`, \`url\` | size, hash, place in the folder and address of the file |

- The bytes under a name never change: a name contains the hash of the file. A day that changes gets a new file, then the manifest names that one. The old file stays
  for an hour for those who have read the manifest before.
- A manifest is replaced in one moment, when all files that it names are there. It never mixes two generations. A day without rows has no file.
- After a rewind the open days are written again, after a redrive the days from its block on, after a swap of generations all days of prices and conversions. The service looks every
  \`datasets.refreshSeconds\`, so that a manifest is as old as that at most, and as long as writing takes.
- \`s3://datasets/…\` lists what the manifests name. In a bucket that \`verustream export\` writes, old files are removed right after the manifest is replaced: there, read the manifests.

## Values
- Amounts are whole numbers of 10^-8 coins (satoshis), never fractions. USD are decimals with 18 places.
- Times are timestamps in UTC. Hashes are hexadecimal. Currencies and identities are i-addresses; \`currencies\` has the names of currencies.
- \`chain\` is in the path (\`chain=…\`) and in each row.
`;

const SQL = `
## SQL
\`verustream sql "SELECT …"\` asks ClickHouse, embedded or by URL, for what is served at the moment: [commands](commands.md#sql). Each table is the view \`v_<table>\`, with the columns below.
What Postgres alone holds is copied for the statement that names it, at some hundred thousand rows a second: the tables that say so, and of \`v_conversions\` the columns \`priced_currency_id\`,
\`priced_currency_usd\`, \`price_basket\`, \`price_height\` and \`regime_version\` (\`*\` names them too).
\`\`\`
npm run verustream -- sql "SELECT toDate(time) AS day, count() AS n, sum(usd_value) AS usd FROM v_conversions WHERE status = 'completed' GROUP BY day ORDER BY day" --format table
\`\`\`
An operator whose analysts log in to ClickHouse itself gives them the user of [analysts.xml](../infra/deploy/clickhouse/analysts.xml): read-only, with bounds of time, memory, rows and
statements an hour. Its password and profile were tried on ClickHouse 18.16, which has no \`grants\` in such a file and no \`use_query_condition_cache\`; the whole file was not tried on a server of today.

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

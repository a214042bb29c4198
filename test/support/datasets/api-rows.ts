/** The API's values for rows of a data set, member by member. */
import { coinsToSatoshis } from '../../../domain/satoshi.ts';
import { type PlainRow, plainValue } from './plain-rows.ts';

type Shown = Readonly<Record<string, unknown>>;
/**
 * Columns that the API shows for the row; null if the API does not show it, such as a state that a later one of the same block replaced.
 */
export type Claims = (row: PlainRow) => PlainRow | null;

const USD = 'Nullable(Decimal(38, 18))';
const text = (value: unknown): string | null => (value === null ? null : String(value));
const seconds = (iso: unknown): string => String(Date.parse(String(iso)) / 1000);

const satoshis = (coins: unknown): string | null => (coins === null ? null : coinsToSatoshis(String(coins)).toString());

/** Claims by table name. */
export function apiClaims(
  host: string,
  native: string,
): Readonly<Record<string, (rows: readonly PlainRow[]) => Promise<Claims>>> {
  async function get<T = Shown>(path: string): Promise<T> {
    const answer = await fetch(`${host}${path}${path.includes('?') ? '&' : '?'}numbers=text`);
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as T;
  }

  /** `rows`: name of the member that contains the rows. */
  async function wholeList(path: string, size: string, rows = 'results'): Promise<Shown[]> {
    const found: Shown[] = [];
    for (let cursor = ''; ; ) {
      const page = await get(`${path}${path.includes('?') ? '&' : '?'}${size}${cursor}`);
      found.push(...(page[rows] as Shown[]));
      if (page.nextCursor === null) return found;
      cursor = `&cursor=${encodeURIComponent(String(page.nextCursor))}`;
    }
  }

  /** One answer for each distinct value of a column. */
  async function forEach<T>(
    rows: readonly PlainRow[],
    column: string,
    ask: (value: string) => Promise<T>,
  ): Promise<Map<string, T>> {
    const answers = new Map<string, T>();
    for (const value of new Set(rows.map((row) => row[column]))) {
      if (typeof value === 'string') answers.set(value, await ask(value));
    }
    return answers;
  }

  const blockOf = (height: string) => get(`/api/blocks/${height}`);
  const conversions = async () =>
    new Map(
      (await wholeList('/api/conversions/', 'pageSize=100')).map((shown) => [`${shown.txid} ${shown.vout}`, shown]),
    );

  return {
    async blocks(rows) {
      const blocks = await forEach(rows, 'height', blockOf);
      return (row) => {
        const block = blocks.get(row.height ?? '') ?? {};
        return {
          chain: text(block.chain),
          hash: text(block.hash),
          time: text(block.time),
          size: text(block.size),
          tx_count: text(block.txCount),
          validation_type: text(block.validationType),
          difficulty: plainValue('Float64', block.difficulty),
          reward: satoshis(block.blockReward),
          miner_address: text(block.minerAddress),
          fees: satoshis(block.fees),
          stake_amount: satoshis(block.stakeAmount),
          fee_pool: satoshis(block.feePool),
        };
      };
    },

    async transactions(rows) {
      const blocks = await forEach(rows, 'height', blockOf);
      return (row) => {
        const block = blocks.get(row.height ?? '') ?? {};
        const tx = (block.transactions as readonly Shown[])[Number(row.tx_index)] ?? {};
        return {
          time: text(block.time),
          txid: text(tx.txid),
          kind: text(tx.type),
          fee: satoshis(tx.fee),
          size: text(tx.size),
        };
      };
    },

    async balance_deltas(rows) {
      const histories = await forEach(rows, 'address', async (address) => {
        const list = await wholeList(`/api/address/${address}`, 'pageSize=100');
        return new Map(list.map((entry) => [text(entry.txid), entry]));
      });
      return ({ address, txid, currency_id: id, received, sent }) => {
        const entry = histories.get(address ?? '')?.get(txid ?? null) ?? {};
        const place = { height: text(entry.height), time: text(entry.time) };
        if (id === native) return { ...place, received: satoshis(entry.received), sent: satoshis(entry.sent) };
        // For other currencies the API shows the difference, and omits a difference of 0.
        const moved = (entry.currencies as readonly Shown[]).find(({ currencyId }) => currencyId === id);
        const net = BigInt(satoshis(moved?.amount ?? '0') ?? 0);
        return {
          ...place,
          received: (BigInt(sent ?? 0) + net).toString(),
          sent: (BigInt(received ?? 0) - net).toString(),
        };
      };
    },

    async currencies(rows) {
      const currencies = await forEach(rows, 'currency_id', (id) => get(`/api/currency/${id}`));
      return (row) => {
        const shown = currencies.get(row.currency_id ?? '') ?? {};
        if (row.height !== shown.definitionHeight || row.txid !== shown.definitionTxid) return null;
        return {
          name: text(shown.name),
          fully_qualified_name: text(shown.fullyQualifiedName),
          parent: text(shown.parent),
          system_id: text(shown.systemId),
          currency_type: text(shown.type),
          options: text(shown.options),
          start_block: text(shown.startBlock),
          vout: text(shown.definitionTxOut),
        };
      };
    },

    async currency_states(rows) {
      const newest = new Map<string, PlainRow>();
      const isAfter = (row: PlainRow, other: PlainRow) =>
        Number(row.tx_index) - Number(other.tx_index) || Number(row.vout) - Number(other.vout);
      for (const row of rows) {
        const place = `${row.currency_id} ${row.height}`;
        const known = newest.get(place);
        if (!known || isAfter(row, known) > 0) newest.set(place, row);
      }
      const states = new Map<PlainRow, Shown>();
      for (const row of newest.values()) {
        states.set(row, await get(`/api/currency/${row.currency_id}/state?height=${row.height}`));
      }
      return (row) => {
        const state = states.get(row);
        if (!state) return null;
        const reserves = state.reserves as readonly Shown[];
        const all = (member: string, as: (value: unknown) => string | null) =>
          JSON.stringify(reserves.map((reserve) => as(reserve[member])));
        return {
          height: text(state.stateHeight),
          vout: text(state.vout),
          flags: text(state.flags),
          supply: satoshis(state.supply),
          reserve_ids: all('currencyId', text),
          weights: all('weight', satoshis),
          reserves: all('reserve', satoshis),
        };
      };
    },

    async identity_states(rows) {
      const changes = await forEach(rows, 'identity_address', (id) =>
        get<readonly Shown[]>(`/api/identity/${id}/changes`),
      );
      return (row) => {
        const own = changes.get(row.identity_address ?? '') ?? [];
        const change = own.find(({ txid }) => txid === row.txid) ?? {};
        return { height: text(change.height), time: text(change.time), kind: text(change.kind) };
      };
    },

    async rewards(rows) {
      const lists = await forEach(rows, 'address', async (address) => {
        const list = await wholeList(`/api/address/${address}/rewards`, 'pageSize=100');
        return new Map(list.map((reward) => [`${reward.txid} ${reward.vout}`, reward]));
      });
      return (row) => {
        const reward = lists.get(row.address ?? '')?.get(`${row.txid} ${row.vout}`) ?? {};
        return {
          height: text(reward.height),
          time: text(reward.time),
          kind: text(reward.type),
          amount: satoshis(reward.amount),
        };
      };
    },

    async transfers() {
      const shown = await conversions();
      return (row) => {
        const conversion = shown.get(`${row.txid} ${row.vout}`) ?? {};
        const changedAt = conversion.importHeight ?? conversion.exportHeight ?? conversion.height;
        if (row.height !== changedAt) return null;
        return {
          ...requestOf(conversion),
          status: row.status === 'exported' && conversion.status === 'pending' ? 'exported' : text(conversion.status),
          import_currency_id: text(conversion.basketId),
          request_time: text(conversion.time),
          export_txid: text(conversion.exportTxid),
          export_height: text(conversion.exportHeight),
          import_txid: text(conversion.importTxid),
          import_height: text(conversion.importHeight),
          import_time: text(conversion.importTime),
          source_system_id: text(conversion.sourceSystemId),
          reason: text(conversion.reason),
        };
      };
    },

    async prices(rows) {
      const histories = await forEach(rows, 'currency_id', async (id) => {
        const list = await wholeList(`/api/oracle/prices/${id}/history`, 'limit=1000', 'data');
        return new Map(list.map((point) => [text(point.blockHeight), point]));
      });
      return (row) => {
        const point = histories.get(row.currency_id ?? '')?.get(row.height ?? null);
        if (!point) return null;
        return {
          time: seconds(point.createdAt),
          usd_price: plainValue(USD, point.usdPrice),
          provisional: text(point.provisional),
        };
      };
    },

    async conversions() {
      const shown = await conversions();
      return (row) => {
        const conversion = shown.get(`${row.txid} ${row.vout}`) ?? {};
        return {
          ...requestOf(conversion),
          chain: text(conversion.importChain),
          height: text(conversion.importHeight),
          time: text(conversion.importTime),
          status: text(conversion.status),
          basket_id: text(conversion.basketId),
          from_usd: plainValue(USD, conversion.fromUsd),
          to_usd: plainValue(USD, conversion.toUsd),
          usd_value: plainValue(USD, conversion.usdValue),
          rule: text(conversion.rule),
          regime: text(conversion.regime),
          regime_version: text(conversion.regimeVersion),
          diverged: text(conversion.diverged),
          provisional: text(conversion.provisional),
          reason: text(conversion.stampReason),
          priced_currency_id: text(conversion.pricedCurrencyId),
          priced_currency_usd: plainValue(USD, conversion.pricedCurrencyUsd),
          price_basket: text(conversion.priceBasket),
          price_height: text(conversion.priceHeight),
        };
      };
    },
  };
}

const requestOf = (conversion: Shown) => ({
  kind: text(conversion.type),
  from_currency_id: text(conversion.fromCurrencyId),
  to_currency_id: text(conversion.toCurrencyId),
  via_currency_id: text(conversion.viaCurrencyId),
  amount_in: satoshis(conversion.amountIn),
  amount_out: satoshis(conversion.amountOut),
  conversion_fee: satoshis(conversion.fee),
  source: text(conversion.source),
  destination: text(conversion.destination),
  request_height: text(conversion.height),
});
